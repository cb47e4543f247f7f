// Streams of a compiled core, from its outside: fields of payloads, checked requests, and delayed responses.
//
// A stream is a type of ports.py: its name, its width, a constant for each field of its payload, and its three ports.
// memory_model.cc precedes this text.

#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr unsigned WORD_BITS = 32;

template <typename Stream>
using Payload = std::array<std::uint32_t, (Stream::WIDTH + WORD_BITS - 1) / WORD_BITS>;

// Element `index` of an array of fields, or the field itself.
template <typename Words>
std::uint32_t get(const Words& words, Field field, unsigned index = 0) {
    if (field.width == 0) return 0;
    const unsigned offset = field.offset + index * field.width, word = offset / WORD_BITS;
    std::uint64_t both = words[word];
    if (word + 1 < words.size()) both |= std::uint64_t(words[word + 1]) << WORD_BITS;
    return std::uint32_t(both >> offset % WORD_BITS) & std::uint32_t((1ull << field.width) - 1);
}

template <typename Words>
void set(Words& words, Field field, std::uint32_t value, unsigned index = 0) {
    if (field.width == 0) return;
    const unsigned offset = field.offset + index * field.width, word = offset / WORD_BITS, shift = offset % WORD_BITS;
    const std::uint64_t mask = ((1ull << field.width) - 1) << shift, bits = std::uint64_t(value) << shift & mask;
    words[word] = (words[word] & ~std::uint32_t(mask)) | std::uint32_t(bits);
    if (mask >> WORD_BITS) {
        words[word + 1] = (words[word + 1] & ~std::uint32_t(mask >> WORD_BITS)) | std::uint32_t(bits >> WORD_BITS);
    }
}

// A port's C++ type is the smallest of 8, 16, 32 or 64 bits that holds it, else an array of 32-bit words.
template <typename Words, typename Port>
Words bits_of(const Port& port) {
    static_assert(sizeof(Port) <= sizeof(Words));
    Words words{};
    std::memcpy(words.data(), static_cast<const void*>(&port), sizeof(Port));
    return words;
}

template <typename Port, typename Words>
void drive(Port& port, const Words& words) {
    static_assert(sizeof(Port) <= sizeof(Words));
    std::memcpy(static_cast<void*>(&port), words.data(), sizeof(Port));
}

// The core broke a rule of its border.
struct Violation : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Whether something is withheld in this cycle, and how long a response takes: the same for the same seed.
class Chance {
public:
    Chance(std::uint64_t seed, std::uint32_t stall, std::uint32_t jitter)
        : state(seed), stall(stall), jitter(jitter) {}

    bool withholds() {
        if (stall == 0) return false;
        if (remaining == 0) bits = next(), remaining = 4;
        --remaining;
        const bool result = (bits & 0xFFFF) < stall;
        bits >>= 16;
        return result;
    }

    std::uint64_t delay() { return jitter ? next() % (std::uint64_t(jitter) + 1) : 0; }

private:
    std::uint64_t state, bits = 0;
    std::uint32_t stall, jitter;
    unsigned remaining = 0;

    std::uint64_t next() {  // SplitMix64
        std::uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
};

// A stream of the core. What is offered must stay, unchanged, until it is taken.
template <typename Stream>
class Request {
public:
    void start(Vcore& model, bool ready) { Stream::ready(model) = ready; }

    // Whether a payload is taken at the end of this cycle.
    bool take(Vcore& model, Payload<Stream>& payload) {
        const bool valid = Stream::valid(model);
        if (waiting && !valid) throw Violation(std::string(Stream::NAME) + ": valid fell before ready was high");
        if (!valid) return false;
        payload = bits_of<Payload<Stream>>(Stream::payload(model));
        if (waiting && payload != held) {
            throw Violation(std::string(Stream::NAME) + ": the payload changed before ready was high");
        }
        waiting = !Stream::ready(model);
        if (waiting) held = payload;
        return !waiting;
    }

private:
    bool waiting = false;
    Payload<Stream> held{};
};

// A stream to the core. Of the payloads that are due, the one that became due first is offered; of those that became
// due at once, the one that was put first.
template <typename Stream>
class Response {
public:
    std::size_t size() const { return waiting.size() + offered; }

    void put(std::uint64_t due, const Payload<Stream>& payload) { waiting.push({due, count++, payload}); }

    // Whether a payload is offered that was not before.
    bool start(Vcore& model, std::uint64_t cycle, bool withheld) {
        if (offered || withheld || waiting.empty() || waiting.top().due > cycle) return false;
        current = waiting.top().payload;
        waiting.pop();
        drive(Stream::payload(model), current);
        Stream::valid(model) = offered = true;
        return true;
    }

    const Payload<Stream>& payload() const { return current; }

    // Notes whether the core takes what is offered.
    void settle(Vcore& model) { taken = offered && Stream::ready(model); }

    // After the clock's edge; true if the core took what was offered.
    bool finish(Vcore& model) {
        if (taken) withdraw(model);
        return std::exchange(taken, false);
    }

    // Withdraws what is offered, and poisons the payload.
    void withdraw(Vcore& model) {
        Stream::valid(model) = offered = false;
        Payload<Stream> nothing;
        nothing.fill(POISON);
        if (Stream::WIDTH % WORD_BITS) nothing.back() &= (1u << Stream::WIDTH % WORD_BITS) - 1;
        drive(Stream::payload(model), nothing);
    }

private:
    struct Entry {
        std::uint64_t due, number;
        Payload<Stream> payload;
        bool operator<(const Entry& other) const {  // Of a priority queue the largest comes first.
            return due != other.due ? due > other.due : number > other.number;
        }
    };

    std::priority_queue<Entry> waiting;
    Payload<Stream> current{};
    std::uint64_t count = 0;
    bool offered = false, taken = false;
};

// Cycles of responses: none overtakes those that precede it in order.
class Order {
public:
    std::uint64_t due(std::uint64_t earliest) { return last = std::max(last, earliest); }

private:
    std::uint64_t last = 0;
};

}  // namespace

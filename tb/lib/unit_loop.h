// What the clocks of compiled units have in common: ports, chance, failures, streams that a unit offers.
//
// `unit_loop.py` concatenates this text, the generated declarations with `ports(model)`, and the unit's own clock.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int POISON = 0xA5;  // Of payloads that are not valid

struct Port {
    void* bits;
    std::size_t bytes, width;
};

struct Stream {
    Port payload;
    std::uint8_t *valid, *ready;  // Without `ready` each payload is taken at once
};

// The unit broke a rule, or takes too long.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Random numbers, the same for the same seed.
struct Chance {
    std::uint64_t state, stall = 0;

    std::uint64_t next() {  // SplitMix64
        std::uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
    bool withholds(std::uint64_t share) { return next() % 65536 < share; }
    bool withholds() { return stall && withholds(stall); }
    std::uint64_t below(std::uint64_t limit) { return limit ? next() % limit : 0; }
};

// Clears the bits beyond a port's width, which must be zero.
inline void clear_beyond(const Port& port) {
    auto* bytes = static_cast<unsigned char*>(port.bits);
    for (std::size_t bit = port.width; bit < 8 * port.bytes; ++bit) bytes[bit / 8] &= ~(1 << bit % 8);
}

// Gives a port a payload, or poison.
inline void set(const Port& port, const void* payload) {
    if (payload) {
        std::memcpy(port.bits, payload, port.bytes);
    } else {
        std::memset(port.bits, POISON, port.bytes);
    }
    clear_beyond(port);
}

// At most 64 bits of a payload.
inline std::uint64_t bits(const void* payload, unsigned from, unsigned count) {
    std::uint64_t result = 0;
    for (unsigned bit = 0; bit < count;) {
        const unsigned at = from + bit, taken = std::min(8 - at % 8, count - bit);
        const std::uint64_t byte = static_cast<const unsigned char*>(payload)[at / 8];
        result |= (byte >> at % 8 & ((1u << taken) - 1)) << bit, bit += taken;
    }
    return result;
}

// A stream that the unit offers. What is offered must stay, unchanged, until it is taken.
struct Offered {
    const Stream& stream;
    const char* name;
    std::vector<char> waiting = {};

    bool take() {
        const char* payload = static_cast<const char*>(stream.payload.bits);
        if (!waiting.empty()) {
            if (!*stream.valid) throw Failure(std::string(name) + ": valid fell before it was taken");
            if (std::memcmp(payload, waiting.data(), waiting.size())) throw Failure(std::string(name) + " has changed");
        }
        waiting.clear();
        const bool ready = !stream.ready || *stream.ready;
        if (*stream.valid && !ready) waiting.assign(payload, payload + stream.payload.bytes);
        return *stream.valid && ready;
    }
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

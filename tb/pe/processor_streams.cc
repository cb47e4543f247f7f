// What goes into a compiled command processor and comes out: payloads, chance, streams, the log of a run.
//
// The generated part in front of this gives `ports(model)`, `LANES`, the fields of the payloads and the codes.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 LINE_BYTES = 64;
constexpr int POISON = 0xA5;
constexpr unsigned QUIET_CYCLES = 30;  // Behind the last buffer, in which nothing more may come.
constexpr u64 MOST_LINES = 8, RESIDENT = 8;
constexpr u64 SPACE_LINES = u64{1} << 26, IMAGE_LINES = 1024;
enum Event : u32 { BUFFER, UNIT, STARTS, WAVEFRONT, ERROR, CONSUMED, COUNTERS, IMAGE, FAULT, WALKED };

struct Fault {
    u64 program, wavefront, status, client, pc, i, j, address;
};

struct Loss {
    u64 at_flush, number, client, address;  // Of the program or flush with this number
};

struct Setup {
    const char* memory;
    const u64* error_lines;  // Pairs of lines [first, end)
    u64 error_lines_count;
    const u64* buffers;  // Pairs of address and dwords
    u64 buffers_count;
    const Fault* faults;
    u64 faults_count;
    const Loss* losses;
    u64 losses_count;
    u32* events;  // Each: its kind, the cycle, the number of words behind, the words
    u64 events_size, latency, jitter, stall, hold, delay, seed, salt, max_cycles, cut;
};

struct Result {
    u64 failed, events, cycles, most_lines, busy;
    char message[256];
};

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

u64 get(const Port& port, Field field) {
    u64 value = 0;
    for (unsigned bit = 0; bit < field.width;) {
        const unsigned at = field.offset + bit, count = std::min(8 - at % 8, field.width - bit);
        const u64 part = static_cast<unsigned char*>(port.bits)[at / 8] >> at % 8 & ((1u << count) - 1);
        value |= part << bit, bit += count;
    }
    return value;
}

void put(const Port& port, Field field, u64 value) {
    for (unsigned bit = 0; bit < field.width; ++bit) {
        const unsigned at = field.offset + bit;
        auto& byte = static_cast<unsigned char*>(port.bits)[at / 8];
        byte = (byte & ~(1 << at % 8)) | (value >> bit & 1) << at % 8;
    }
}

void poison(const Port& port) {
    auto* bytes = static_cast<unsigned char*>(port.bits);
    std::memset(bytes, POISON, port.bytes);
    for (std::size_t bit = port.width; bit < 8 * port.bytes; ++bit) bytes[bit / 8] &= ~(1 << bit % 8);
}

u32 mix(u32 x) {
    x = (x ^ x >> 16) * 0x7FEB352D;
    x = (x ^ x >> 15) * 0x846CA68B;
    return x ^ x >> 16;
}

// The same for the same seed.
struct Chance {
    u64 state, stall;

    u64 next() {  // SplitMix64
        u64 z = state += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
    bool withholds() { return stall && next() % 65536 < stall; }
    u64 below(u64 limit) { return limit ? next() % limit : 0; }
};

// A stream that the processor offers. What is offered must stay, unchanged, until it is taken.
struct Offered {
    const Stream& stream;
    const char* name;
    std::vector<char> waiting = {};

    bool take() {
        const char* bits = static_cast<const char*>(stream.payload.bits);
        if (!waiting.empty()) {
            if (!*stream.valid) throw Failure(std::string(name) + ": valid fell before it was taken");
            if (std::memcmp(bits, waiting.data(), waiting.size())) throw Failure(std::string(name) + " has changed");
        }
        waiting.clear();
        if (*stream.valid && !*stream.ready) waiting.assign(bits, bits + stream.payload.bytes);
        return *stream.valid && *stream.ready;
    }
};

// Takes what is offered after a time.
struct Sink {
    Offered offered;
    u64 left = 0;
    bool counting = false;

    void drive(Chance& chance, u64 delay, bool can = true) {
        // Whether it is offered is known from the cycle before.
        if (!offered.waiting.empty() && !counting) counting = true, left = chance.below(delay + 1);
        *offered.stream.ready = can && (delay ? counting && left == 0 : !chance.withholds());
        if (counting && left) --left;
    }
    bool take() {
        const bool taken = offered.take();
        if (taken) counting = false;
        return taken;
    }
};

struct Coming {
    u64 what, due;
};

struct Resident {
    u64 number, left, given;
};

}  // namespace

// The inputs and outputs of a compiled command processor: payloads, streams, and the log of a run.
//
// simulation.py concatenates unit_loop.h, the declarations, this text, processor_surroundings.cc and processor_loop.cc.
// The declarations have `ports(model)`, `LANES`, the fields of the payloads and the codes.

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 LINE_BYTES = 64;
constexpr unsigned IDLE_CYCLES = 30;  // After the last buffer: no transfer may follow.
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
    u32* events;  // Each: its kind, the cycle, the number of words, the words
    u64 events_size, latency, jitter, stall, hold, delay, seed, salt, max_cycles, cut;
};

struct Result {
    u64 failed, events, cycles, most_lines, busy;
    char message[256];
};

u64 get(const Port& port, Field field) { return bits(port.bits, field.offset, field.width); }

void put(const Port& port, Field field, u64 value) {
    for (unsigned bit = 0; bit < field.width; ++bit) {
        const unsigned at = field.offset + bit;
        auto& byte = static_cast<unsigned char*>(port.bits)[at / 8];
        byte = (byte & ~(1 << at % 8)) | (value >> bit & 1) << at % 8;
    }
}

void poison(const Port& port) { set(port, nullptr); }

u32 mix(u32 x) {
    x = (x ^ x >> 16) * 0x7FEB352D;
    x = (x ^ x >> 15) * 0x846CA68B;
    return x ^ x >> 16;
}

// Takes each payload some cycles after it is offered.
struct Sink {
    Offered offered;
    u64 remaining = 0;
    bool counting = false;

    void drive(Chance& chance, u64 delay, bool can = true) {
        // A payload was offered, and not taken, in the last cycle.
        if (!offered.waiting.empty() && !counting) counting = true, remaining = chance.below(delay + 1);
        *offered.stream.ready = can && (delay ? counting && remaining == 0 : !chance.withholds());
        if (counting && remaining) --remaining;
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
    u64 number, remaining, given;
};

}  // namespace

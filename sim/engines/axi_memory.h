// A memory at an AXI4 manager port: the whole address space is the host's memory, responses are in order.
//
// A response's first beat comes `latency` cycles, and up to `jitter` more, after its address or its last write beat was
// taken. In each direction beats follow each other as `bytes_per_cycle` allows. A beat with any byte in an error range
// has the response SLVERR and changes nothing.

#pragma once

#include <cstdint>
#include <cstring>
#include <deque>

struct ErrorRange {
    std::uint64_t first, end;
};

// As Python gives it; every member has 8 bytes.
struct MemorySetup {
    std::uint8_t* bytes;
    const ErrorRange* error_ranges;
    std::uint64_t error_range_count;
    std::uint64_t latency, bytes_per_cycle, jitter;
    std::uint64_t stall;  // How often of 65536 a ready or a new valid is withheld.
    std::uint64_t seed;
};

// SplitMix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : state(seed) {}
    std::uint64_t next() {
        std::uint64_t value = state += 0x9E3779B97F4A7C15;
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
        value = (value ^ value >> 27) * 0x94D049BB133111EB;
        return value ^ value >> 31;
    }

private:
    std::uint64_t state;
};

constexpr unsigned OKAY = 0, SLVERR = 2;

// The bandwidth of one direction of a port: whole beats, at most `bytes_per_cycle` bytes in a cycle.
class Bandwidth {
public:
    Bandwidth(std::uint64_t beat_bytes, std::uint64_t bytes_per_cycle) : beat_bytes(beat_bytes), rate(bytes_per_cycle) {}
    bool is_free(std::uint64_t now) const { return now * rate >= busy; }
    void use(std::uint64_t now) { busy = (busy > (now + 1) * rate - rate ? busy : now * rate) + beat_bytes; }

private:
    std::uint64_t beat_bytes, rate, busy = 0;
};

// Port gives static accessors to the signals of a model; BEAT_BYTES is the width of its data.
template <typename Port>
class AxiMemory {
public:
    AxiMemory(const MemorySetup& setup, std::uint64_t seed)
        : setup(setup), random(seed), read_bus(Port::BEAT_BYTES, setup.bytes_per_cycle),
          write_bus(Port::BEAT_BYTES, setup.bytes_per_cycle) {}

    // Sets the inputs of a cycle.
    template <typename Model>
    void drive(Model& model, std::uint64_t now) {
        Port::arready(model) = goes();
        Port::awready(model) = goes();
        Port::wready(model) = !bursts.empty() && write_bus.is_free(now) && goes();
        if (!offers_read) offers_read = !reads.empty() && reads.front().time <= now && read_bus.is_free(now) && goes();
        Port::rvalid(model) = offers_read;
        if (offers_read) {
            const Read& read = reads.front();
            const bool is_error = has_error(read.address);
            Port::rresp(model) = is_error ? SLVERR : OKAY;
            Port::rlast(model) = read.beats == 1;
            Port::set_rdata(model, is_error ? POISON : setup.bytes + read.address);
        }
        if (!offers_response) offers_response = !responses.empty() && responses.front().time <= now && goes();
        Port::bvalid(model) = offers_response;
        if (offers_response) Port::bresp(model) = responses.front().has_error ? SLVERR : OKAY;
    }

    // Takes the transfers of a cycle, before its clock edge.
    template <typename Model>
    void take(Model& model, std::uint64_t now) {
        if (Port::rvalid(model) && Port::rready(model)) {
            read_bus.use(now);
            offers_read = false;
            Read& read = reads.front();
            read.address += Port::BEAT_BYTES;
            if (--read.beats == 0) reads.pop_front();
        }
        if (Port::bvalid(model) && Port::bready(model)) {
            offers_response = false;
            responses.pop_front();
        }
        if (Port::wvalid(model) && Port::wready(model)) take_write(model, now);
        if (Port::arvalid(model) && Port::arready(model)) {
            reads.push_back({aligned(Port::araddr(model)), Port::arlen(model) + 1u, now + delay()});
        }
        if (Port::awvalid(model) && Port::awready(model)) {
            bursts.push_back({aligned(Port::awaddr(model)), Port::awlen(model) + 1u, false});
        }
    }

private:
    struct Read {
        std::uint32_t address, beats;
        std::uint64_t time;
    };
    struct Burst {
        std::uint32_t address, beats;
        bool has_error;
    };
    struct Response {
        bool has_error;
        std::uint64_t time;
    };
    static constexpr std::uint8_t POISON[32] = {0xAD, 0xDB, 0xBA, 0x7F, 0xAD, 0xDB, 0xBA, 0x7F, 0xAD, 0xDB, 0xBA,
                                                0x7F, 0xAD, 0xDB, 0xBA, 0x7F, 0xAD, 0xDB, 0xBA, 0x7F, 0xAD, 0xDB,
                                                0xBA, 0x7F, 0xAD, 0xDB, 0xBA, 0x7F, 0xAD, 0xDB, 0xBA, 0x7F};

    const MemorySetup& setup;
    Random random;
    Bandwidth read_bus, write_bus;
    std::deque<Read> reads;
    std::deque<Burst> bursts;
    std::deque<Response> responses;
    bool offers_read = false, offers_response = false;

    static std::uint32_t aligned(std::uint32_t address) { return address & ~std::uint32_t(Port::BEAT_BYTES - 1); }
    bool goes() { return !setup.stall || (random.next() & 0xFFFF) >= setup.stall; }
    std::uint64_t delay() { return setup.latency + (setup.jitter ? random.next() % (setup.jitter + 1) : 0); }

    bool has_error(std::uint32_t address) const {
        for (std::uint64_t index = 0; index < setup.error_range_count; ++index) {
            const ErrorRange& range = setup.error_ranges[index];
            if (address < range.end && range.first < std::uint64_t(address) + Port::BEAT_BYTES) return true;
        }
        return false;
    }

    template <typename Model>
    void take_write(Model& model, std::uint64_t now) {
        write_bus.use(now);
        Burst& burst = bursts.front();
        const std::uint64_t strobe = Port::wstrb(model);
        if (has_error(burst.address)) {
            burst.has_error |= strobe != 0;
        } else {
            std::uint8_t beat[Port::BEAT_BYTES];
            Port::get_wdata(model, beat);
            for (unsigned byte = 0; byte < Port::BEAT_BYTES; ++byte) {
                if (strobe >> byte & 1) setup.bytes[burst.address + byte] = beat[byte];
            }
        }
        burst.address += Port::BEAT_BYTES;
        if (--burst.beats == 0) {
            responses.push_back({burst.has_error, now + delay()});
            bursts.pop_front();
        }
    }
};

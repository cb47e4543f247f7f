// The clock of a compiled rasterizer, of sources of primitives and free records, and of sinks of strips and records.
//
// In every cycle the inputs are driven, the unit settles, its transfers are checked and taken, and the clock rises.
// Payloads that are not valid are a poison.
// simulation.py concatenates unit_loop.h, the declarations with `ports(model)`, and this text.

namespace {

constexpr unsigned IDLE_CYCLES = 20;  // After the last shape: no transfer may follow.
constexpr unsigned VECTORS = 4, VECTOR_BYTES = 16, ROWS = 7, EVENTS = 6;

struct Setup {
    const char *state, *primitives, *positions;
    char *strips, *shapes;  // Payloads; for each shape the record's number, and its rows as words
    std::uint64_t *strip_cycles, *shape_cycles, *counts;
    std::uint64_t primitives_count, strips_size, shapes_size, records, source_stall, sink_stall, free_stall, seed, max_cycles;
    std::uint64_t stop;  // Stops in this cycle, with primitives in flight; 0 never
};

struct Result {
    std::uint64_t failed, strips, shapes, cycles;
    char message[256];
};

void check(bool holds, const char* rule) {
    if (!holds) throw Failure(rule);
}

enum class Record { FREE, TAKEN, GIVEN };

// The state that remains from run to run.
struct Unit {
    Model model;
    std::deque<std::uint8_t> free;
    std::vector<Record> states;
    std::vector<unsigned> written;
    std::vector<std::uint32_t> rows;

    explicit Unit(std::uint64_t records) : states(records), written(records), rows(records * ROWS * 4) { reset(); }

    void reset() {
        free.clear();
        for (unsigned record = 0; record < states.size(); ++record) {
            free.push_back((5 * record + 3) % states.size());
            states[record] = Record::FREE;
        }
        model.rst = 1;
        model.clk = 0;
        model.eval();
        model.clk = 1;
        model.eval();
        model.rst = 0;
    }
};

struct Run {
    Unit& unit;
    const Setup& setup;
    Result& result;
    Ports ports;
    Chance chance;
    std::uint64_t next = 0;
    bool offers = false, offers_free = false, waits = false;
    std::vector<char> waiting;

    Run(Unit& unit, const Setup& setup, Result& result)
        : unit(unit), setup(setup), result(result), ports(::ports(unit.model)), chance{setup.seed} {}

    void run() {
        unsigned idle_cycles = 0;
        std::uint64_t entry = 0, vector = 0, now = 0;
        set(ports.state, setup.state);
        for (; idle_cycles < IDLE_CYCLES; ++now) {
            if (setup.stop && now == setup.stop) return;
            check(now < setup.max_cycles, "too many cycles");
            drive(entry, vector);
            unit.model.clk = 0;
            unit.model.eval();
            watch(now);
            idle_cycles = *ports.idle && next == setup.primitives_count && !offers ? idle_cycles + 1 : 0;
            entry = bits(ports.entry.bits, 0, ports.entry.width);
            vector = bits(ports.vector.bits, 0, ports.vector.width);
            unit.model.clk = 1;
            unit.model.eval();
        }
        result.cycles = now - IDLE_CYCLES;
    }

    void drive(std::uint64_t entry, std::uint64_t vector) {
        offers = next < setup.primitives_count && (offers || !chance.withholds(setup.source_stall));
        *ports.primitive_valid = offers;
        set(ports.primitive, offers ? setup.primitives + next * ports.primitive.bytes : nullptr);
        offers_free = !unit.free.empty() && (offers_free || !chance.withholds(setup.free_stall));
        *ports.free_valid = offers_free;
        set(ports.free, offers_free ? &unit.free.front() : nullptr);
        *ports.strip_ready = !chance.withholds(setup.sink_stall);
        set(ports.words, setup.positions + (entry * VECTORS + vector) * VECTOR_BYTES);
    }

    void watch(std::uint64_t now) {
        const bool primitive = offers && *ports.primitive_ready, free = offers_free && *ports.free_ready;
        for (unsigned event = 0; event < EVENTS; ++event) setup.counts[event] += bits(ports.events.bits, event, 1);
        write();
        strip(now);
        made(now);
        if (free) {
            const unsigned record = unit.free.front();
            unit.free.pop_front();
            unit.states[record] = Record::TAKEN;
            unit.written[record] = 0;
            offers_free = false;
        }
        if (primitive) ++next, offers = false;
        check(!*ports.idle || !(*ports.strip_valid || bits(ports.made.bits, 0, 1) || bits(ports.write.bits, 0, 1)),
              "idle while something is given");
    }

    void write() {
        const void* data = ports.write.bits;
        if (!bits(data, 0, 1)) return;
        const unsigned width = ports.free.width, record = bits(data, 1, width), row = bits(data, 1 + width, 3);
        check(unit.states[record] == Record::TAKEN, "a row of a record that is not being made");
        check(row < ROWS, "no such row");
        unit.written[record] |= 1u << row;
        for (unsigned word = 0; word < 4; ++word)
            unit.rows[(record * ROWS + row) * 4 + word] = bits(data, 4 + width + 32 * word, 32);
    }

    void strip(std::uint64_t now) {
        const char* payload = static_cast<const char*>(ports.strip.bits);
        if (waits) {
            check(*ports.strip_valid, "a strip's valid fell before it was taken");
            check(!std::memcmp(payload, waiting.data(), ports.strip.bytes), "a strip changed before it was taken");
        }
        waits = *ports.strip_valid && !*ports.strip_ready;
        if (waits) waiting.assign(payload, payload + ports.strip.bytes);
        if (!*ports.strip_valid) return;
        give(bits(payload, ports.strip_record, ports.free.width));
        if (!*ports.strip_ready) return;
        check(result.strips < setup.strips_size, "too many strips");
        std::memcpy(setup.strips + result.strips * ports.strip.bytes, payload, ports.strip.bytes);
        setup.strip_cycles[result.strips++] = now;
    }

    void give(unsigned record) {
        check(unit.states[record] != Record::FREE, "a strip of a record that is free");
        check(unit.written[record] == (1u << ROWS) - 1, "a strip without its record");
        unit.states[record] = Record::GIVEN;
    }

    void made(std::uint64_t now) {
        if (!bits(ports.made.bits, 0, 1)) return;
        const unsigned record = bits(ports.made.bits, 1, ports.free.width);
        give(record);
        check(result.shapes < setup.shapes_size, "too many shapes");
        char* shape = setup.shapes + result.shapes * (1 + ROWS * 4) * 4;
        std::memcpy(shape, &record, 4);
        std::memcpy(shape + 4, &unit.rows[record * ROWS * 4], ROWS * 16);
        setup.shape_cycles[result.shapes++] = now;
        unit.states[record] = Record::FREE;
        unit.free.push_back(record);
    }
};

}  // namespace

EXPORTED void* unit_make(std::uint64_t records) { return new Unit(records); }
EXPORTED void unit_free(void* unit) { delete static_cast<Unit*>(unit); }
EXPORTED void unit_reset(void* unit) { static_cast<Unit*>(unit)->reset(); }
EXPORTED void unit_run(void* unit, const Setup* setup, Result* result) {
    *result = {};
    try {
        Run(*static_cast<Unit*>(unit), *setup, *result).run();
    } catch (const Failure& failure) {
        result->failed = 1;
        std::snprintf(result->message, sizeof result->message, "%s", failure.what());
    }
}

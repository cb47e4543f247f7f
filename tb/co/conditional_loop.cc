// The clock of a compiled conditional unit with its cache, of its two clients, its host, and a memory of lines.
//
// In every cycle the inputs are driven, the unit settles, its transfers are checked and taken, and the clock rises.
// Payloads that are not valid, and the bits of lines with an error, are a poison. At random, memory reads a line when
// it is requested or at the response, and writes a line when it is taken or at the write response.
// simulation.py concatenates unit_loop.h, the declarations with `ports(model)`, and this text.

namespace {

constexpr std::size_t LINE_BYTES = 64;
constexpr unsigned IDLE_CYCLES = 20;  // After the last response: no transfer may follow.
constexpr unsigned LINE_BITS = 26;

struct Client {
    const char* requests;  // `count` payloads as the port has them
    char* responses;
    std::uint64_t *taken, *responded, *offered;  // Cycles of each request and response
    std::uint64_t count;
};

struct Setup {
    char* memory;
    const Client* clients;
    const char* commands;          // Payloads
    const std::uint64_t* error_lines;  // Pairs of lines [first, end)
    const char* buffer;
    std::uint64_t *reads, *writes, *masks, *lost;  // Logs: lines, lines with the bytes written, addresses
    std::uint64_t commands_count, error_lines_count, log_size, writes_enabled, latency, jitter, stall, seed, max_cycles;
    std::uint64_t outstanding, invalidates, flushes, flush_period, stop, holds, held, commands_from;
};

struct Result {
    std::uint64_t failed, reads, writes, lost, hits, misses, cycles, flags, commanded;
    char message[256];
};

struct ReadInFlight {
    std::uint64_t line, due;
    bool is_delayed;
    char bytes[LINE_BYTES];
};

struct WriteInFlight {
    std::uint64_t line, mask, due;
    bool is_delayed;
    char bytes[LINE_BYTES];
};

class Memory {
public:
    Memory(const Ports& ports, const Setup& setup, Result& result, Chance& chance)
        : ports(ports), setup(setup), result(result), chance(chance), request{ports.line_request, "line_request", {}},
          write{ports.line_write, "line_write", {}} {}

    bool is_idle() const { return reads.empty() && writes.empty(); }

    void drive(std::uint64_t now) {
        *ports.line_request.ready = !chance.withholds();
        *ports.line_write.ready = !chance.withholds();
        offers_read = !reads.empty() && reads.front().due <= now && !chance.withholds();
        *ports.line_response.valid = offers_read;
        set(ports.line_response.payload, nullptr);
        if (offers_read) {
            const ReadInFlight& read = reads.front();
            auto* payload = static_cast<unsigned char*>(ports.line_response.payload.bits);
            const bool error = is_error(read.line);
            if (!error) {
                std::memcpy(payload, read.is_delayed ? setup.memory + read.line * LINE_BYTES : read.bytes, LINE_BYTES);
            }
            payload[LINE_BYTES] = error;
        }
        // A write response that is offered is not withdrawn.
        if (!writes.empty() && writes.front().due <= now && !chance.withholds()) offers_response = true;
        *ports.line_written.valid = offers_response;
        const unsigned char error = offers_response && is_error(writes.front().line);
        set(ports.line_written.payload, offers_response ? &error : nullptr);
    }

    void watch(std::uint64_t now) {
        if (request.take()) take_request(now);
        if (write.take()) take_write(now);
        std::uint64_t expected = ~std::uint64_t(0), events = 0;
        if (offers_read && is_error(reads.front().line)) expected = reads.front().line, ++events;
        if (offers_response && *ports.line_written.ready) {
            const WriteInFlight& first = writes.front();
            if (is_error(first.line)) expected = first.line, ++events;
            else if (first.is_delayed) apply(first);
            writes.pop_front(), offers_response = false;
        }
        if (offers_read) reads.pop_front();
        watch_lost(expected, events);
    }

private:
    const Ports& ports;
    const Setup& setup;
    Result& result;
    Chance& chance;
    Offered request, write;
    std::deque<ReadInFlight> reads;
    std::deque<WriteInFlight> writes;
    bool offers_read = false, offers_response = false;

    bool is_error(std::uint64_t line) const {
        for (std::uint64_t range = 0; range < setup.error_lines_count; ++range) {
            if (setup.error_lines[2 * range] <= line && line < setup.error_lines[2 * range + 1]) return true;
        }
        return false;
    }

    void apply(const WriteInFlight& each) const {
        for (std::size_t byte = 0; byte < LINE_BYTES; ++byte) {
            if (each.mask >> byte & 1) setup.memory[each.line * LINE_BYTES + byte] = each.bytes[byte];
        }
    }

    std::uint64_t due(std::uint64_t now) {
        return now + setup.latency + (setup.jitter ? chance.next() % (setup.jitter + 1) : 0);
    }

    void take_request(std::uint64_t now) {
        ReadInFlight read{bits(ports.line_request.payload.bits, 0, LINE_BITS), due(now), chance.next() % 2 == 0, {}};
        if (bits(ports.line_request.payload.bits, LINE_BITS, 1)) throw Failure("an uncached line is requested");
        for (const auto& other : reads) {
            if (other.line == read.line) throw Failure("a line in flight is requested again");
        }
        for (const auto& other : writes) {
            if (other.line == read.line) throw Failure("a line is requested before its write response");
        }
        std::memcpy(read.bytes, setup.memory + read.line * LINE_BYTES, LINE_BYTES);
        reads.push_back(read);
        if (reads.size() > setup.outstanding) throw Failure("too many lines are in flight");
        if (result.reads < setup.log_size) setup.reads[result.reads] = read.line;
        ++result.reads;
    }

    void take_write(std::uint64_t now) {
        const void* payload = ports.line_write.payload.bits;
        WriteInFlight each{bits(payload, 0, LINE_BITS), bits(payload, LINE_BITS + 8 * LINE_BYTES, 64), due(now),
                           chance.next() % 2 == 0, {}};
        for (std::size_t byte = 0; byte < LINE_BYTES; ++byte) each.bytes[byte] = bits(payload, LINE_BITS + 8 * byte, 8);
        if (!each.mask) throw Failure("a write-back of nothing");
        for (const auto& other : reads) {
            if (other.line == each.line) throw Failure("a line is written back that is in flight");
        }
        for (const auto& other : writes) {
            if (other.line == each.line) throw Failure("a line is written back again before its write response");
        }
        if (!each.is_delayed && !is_error(each.line)) apply(each);
        writes.push_back(each);
        if (writes.size() > setup.outstanding) throw Failure("too many write-backs are in flight");
        if (result.writes < setup.log_size) {
            setup.writes[result.writes] = each.line, setup.masks[result.writes] = each.mask;
        }
        ++result.writes;
    }

    void watch_lost(std::uint64_t line, std::uint64_t events) {
        const std::uint64_t valid = bits(ports.lost, 0, 1), client = bits(ports.lost, 1, 4);
        const std::uint64_t address = bits(ports.lost, 5, 32);
        if (events > 1) throw Failure("two errors in a cycle");
        if (valid != events) throw Failure(events ? "an error is not reported" : "an error is reported of no access");
        if (!valid) return;
        if (client != 7 || address != line * LINE_BYTES) throw Failure("an error is reported of another access");
        if (result.lost < setup.log_size) setup.lost[result.lost] = address;
        ++result.lost;
    }
};

class Run {
public:
    Run(Model& model, const Setup& setup, Result& result)
        : model(model), setup(setup), result(result), ports(::ports(model)), chance{setup.seed, setup.stall},
          memory(ports, setup, result, chance) {
        for (std::size_t client = 0; client < ports.responses.size(); ++client) {
            responses.push_back({ports.responses[client], client ? "response of the DPP" : "response of the PE", {}});
        }
    }

    void run() {
        set(ports.buffer.payload, setup.buffer);
        *ports.writes_enabled = setup.writes_enabled;
        *ports.flush = *ports.invalidate = 0;
        for (unsigned idle_cycles = 0; idle_cycles < IDLE_CYCLES; ++now) {
            if (setup.stop && now == setup.stop) return;
            check_time();
            step();
            idle_cycles = done == setup.commands_count && finished() && *ports.idle ? idle_cycles + 1 : 0;
        }
        result.flags = *ports.format_legal | *ports.tests_pe << 1 | *ports.tests_dpp << 2;
        for (flushing = setup.flushes; flushing; ++now) check_time(), step();
        if (!*ports.idle || !memory.is_idle()) throw Failure("it is not idle after the last response");
        *ports.flush = 0;
        result.cycles = now;
    }

private:
    Model& model;
    const Setup& setup;
    Result& result;
    Ports ports;
    Chance chance;
    Memory memory;
    std::vector<Offered> responses;
    std::uint64_t sent[2] = {}, received[2] = {}, done = 0, now = 0;
    bool offered[2] = {}, seen[2] = {}, flushing = false, invalidated = false;

    void check_time() const {
        if (now == setup.max_cycles) throw Failure("it takes too long: " + state());
    }

    std::string state() const {
        std::string text = std::to_string(done) + " commands done";
        for (int client = 0; client < 2; ++client) {
            text += "; client " + std::to_string(client) + ": sent " + std::to_string(sent[client]) + " of "
                + std::to_string(setup.clients[client].count) + ", responses " + std::to_string(received[client]);
        }
        return text;
    }

    bool finished() const {
        return received[0] == setup.clients[0].count && received[1] == setup.clients[1].count;
    }

    void step() {
        const bool pending = done < setup.commands_count, commands = pending && now >= setup.commands_from;
        *ports.command.valid = commands;
        set(ports.command.payload, commands ? setup.commands + done * ports.command.payload.bytes : nullptr);
        *ports.invalidate = setup.invalidates && !pending && !invalidated;
        const bool holds = (pending && !setup.commands_from) || *ports.invalidate;
        for (int client = 0; client < 2; ++client) drive(client, holds);
        if (setup.flush_period && now % setup.flush_period == setup.flush_period - 1) flushing = true;
        *ports.flush = flushing;
        memory.drive(now);
        model.eval();
        if (*ports.invalidate && !*ports.idle) throw Failure("it is not idle before the first request");
        invalidated |= *ports.invalidate;
        if (*ports.command.valid && *ports.command.ready) ++done, result.commanded = now;
        watch_idle();
        result.hits += *ports.hit, result.misses += *ports.miss;
        for (int client = 0; client < 2; ++client) watch(client);
        memory.watch(now);
        if (*ports.flushed) {
            if (!flushing) throw Failure("flushed without a flush");
            flushing = false;
        }
        model.clk = 1;
        model.eval();
        model.clk = 0;
    }

    void drive(int client, bool holds) {
        const Stream& stream = ports.requests[client];
        if (!offered[client] && !holds) {
            offered[client] = sent[client] < setup.clients[client].count && !chance.withholds();
        }
        *stream.valid = offered[client];
        const char* requests = setup.clients[client].requests;
        set(stream.payload, offered[client] ? requests + sent[client] * stream.payload.bytes : nullptr);
        const bool held = now < setup.holds && setup.held >> client & 1;
        *ports.responses[client].ready = !held && !chance.withholds();
    }

    void watch_idle() const {
        const bool waits = sent[0] != received[0] || sent[1] != received[1];
        if (*ports.unit_idle && waits) throw Failure("the unit is idle before all responses were taken");
        if (*ports.idle && (waits || !memory.is_idle() || *ports.line_request.valid || *ports.line_write.valid)) {
            throw Failure("it is idle with lines, tests or write-backs in flight");
        }
        if (*ports.flushed && !memory.is_idle()) throw Failure("it is flushed before the last write response");
    }

    void watch(int client) {
        const Stream &request = ports.requests[client], &response = ports.responses[client];
        const Client& own = setup.clients[client];
        if (*response.valid) {
            if (received[client] >= sent[client]) throw Failure("a response without a request: " + state());
            if (!seen[client]) own.offered[received[client]] = now, seen[client] = true;
        }
        if (responses[client].take()) {
            const Port& payload = response.payload;
            std::memcpy(own.responses + received[client] * payload.bytes, payload.bits, payload.bytes);
            own.responded[received[client]++] = now, seen[client] = false;
        }
        if (*request.valid && *request.ready) own.taken[sent[client]++] = now, offered[client] = false;
    }
};

struct Unit {
    VerilatedContext context;
    Model model{&context};

    // Memories keep their contents.
    void reset() {
        model.clk = 0, model.rst = 1;
        model.eval();
        model.clk = 1;
        model.eval();
        model.clk = 0, model.rst = 0;
    }
};

}  // namespace

EXPORTED void* unit_make() {
    auto* unit = new Unit;
    unit->reset();
    return unit;
}

EXPORTED void unit_free(void* unit) { delete static_cast<Unit*>(unit); }

EXPORTED void unit_reset(void* unit) { static_cast<Unit*>(unit)->reset(); }

EXPORTED void unit_run(void* unit, const Setup* setup, Result* result) {
    *result = {};
    try {
        Run(static_cast<Unit*>(unit)->model, *setup, *result).run();
    } catch (const Failure& failure) {
        result->failed = 1;
        std::snprintf(result->message, sizeof result->message, "%s", failure.what());
    }
}

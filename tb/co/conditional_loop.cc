// The clock of a compiled conditional unit with its cache: two clients and a host in front, a memory of lines behind.
//
// In every cycle the inputs are driven, the unit settles, what it offers and takes is looked at, and the clock rises.
// Payloads that are not valid, and the bits of lines with an error, are a poison. Memory gives a line as it is when it is asked
// for or when it answers, and takes a write when it is offered or when it answers, by chance.
// The generated part in front of this gives `ports(model)`.

namespace {

constexpr std::size_t LINE_BYTES = 64;
constexpr unsigned QUIET_CYCLES = 20;  // Behind the last answer, in which nothing more may come.
constexpr unsigned LINE_BITS = 26;

struct Client {
    const char* requests;  // `count` payloads as the port has them
    char* responses;
    std::uint64_t *taken, *answered, *offered;  // Cycles of each request and answer
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

struct ReadUnderWay {
    std::uint64_t line, due;
    bool is_late;
    char bytes[LINE_BYTES];
};

struct WriteUnderWay {
    std::uint64_t line, mask, due;
    bool is_late;
    char bytes[LINE_BYTES];
};

class Memory {
public:
    Memory(const Ports& ports, const Setup& setup, Result& result, Chance& chance)
        : ports(ports), setup(setup), result(result), chance(chance), request{ports.line_request, "line_request", {}},
          write{ports.line_write, "line_write", {}} {}

    bool is_quiet() const { return reads.empty() && writes.empty(); }

    void drive(std::uint64_t now) {
        *ports.line_request.ready = !chance.withholds();
        *ports.line_write.ready = !chance.withholds();
        answers_read = !reads.empty() && reads.front().due <= now && !chance.withholds();
        *ports.line_response.valid = answers_read;
        set(ports.line_response.payload, nullptr);
        if (answers_read) {
            const ReadUnderWay& read = reads.front();
            auto* payload = static_cast<unsigned char*>(ports.line_response.payload.bits);
            const bool error = is_error(read.line);
            if (!error) {
                std::memcpy(payload, read.is_late ? setup.memory + read.line * LINE_BYTES : read.bytes, LINE_BYTES);
            }
            payload[LINE_BYTES] = error;
        }
        // Once offered, an answer stays.
        if (!writes.empty() && writes.front().due <= now && !chance.withholds()) offers_written = true;
        *ports.line_written.valid = offers_written;
        const unsigned char error = offers_written && is_error(writes.front().line);
        set(ports.line_written.payload, offers_written ? &error : nullptr);
    }

    void watch(std::uint64_t now) {
        if (request.take()) take_request(now);
        if (write.take()) take_write(now);
        std::uint64_t expected = ~std::uint64_t(0), events = 0;
        if (answers_read && is_error(reads.front().line)) expected = reads.front().line, ++events;
        if (offers_written && *ports.line_written.ready) {
            const WriteUnderWay& first = writes.front();
            if (is_error(first.line)) expected = first.line, ++events;
            else if (first.is_late) apply(first);
            writes.pop_front(), offers_written = false;
        }
        if (answers_read) reads.pop_front();
        watch_lost(expected, events);
    }

private:
    const Ports& ports;
    const Setup& setup;
    Result& result;
    Chance& chance;
    Offered request, write;
    std::deque<ReadUnderWay> reads;
    std::deque<WriteUnderWay> writes;
    bool answers_read = false, offers_written = false;

    bool is_error(std::uint64_t line) const {
        for (std::uint64_t range = 0; range < setup.error_lines_count; ++range) {
            if (setup.error_lines[2 * range] <= line && line < setup.error_lines[2 * range + 1]) return true;
        }
        return false;
    }

    void apply(const WriteUnderWay& each) const {
        for (std::size_t byte = 0; byte < LINE_BYTES; ++byte) {
            if (each.mask >> byte & 1) setup.memory[each.line * LINE_BYTES + byte] = each.bytes[byte];
        }
    }

    std::uint64_t due(std::uint64_t now) {
        return now + setup.latency + (setup.jitter ? chance.next() % (setup.jitter + 1) : 0);
    }

    void take_request(std::uint64_t now) {
        ReadUnderWay read{bits(ports.line_request.payload.bits, 0, LINE_BITS), due(now), chance.next() % 2 == 0, {}};
        if (bits(ports.line_request.payload.bits, LINE_BITS, 1)) throw Failure("an uncached line is asked for");
        for (const auto& other : reads) {
            if (other.line == read.line) throw Failure("a line in flight is requested again");
        }
        for (const auto& other : writes) {
            if (other.line == read.line) throw Failure("a line is asked for whose write-back is not answered");
        }
        std::memcpy(read.bytes, setup.memory + read.line * LINE_BYTES, LINE_BYTES);
        reads.push_back(read);
        if (reads.size() > setup.outstanding) throw Failure("too many lines are under way");
        if (result.reads < setup.log_size) setup.reads[result.reads] = read.line;
        ++result.reads;
    }

    void take_write(std::uint64_t now) {
        const void* payload = ports.line_write.payload.bits;
        WriteUnderWay each{bits(payload, 0, LINE_BITS), bits(payload, LINE_BITS + 8 * LINE_BYTES, 64), due(now),
                           chance.next() % 2 == 0, {}};
        for (std::size_t byte = 0; byte < LINE_BYTES; ++byte) each.bytes[byte] = bits(payload, LINE_BITS + 8 * byte, 8);
        if (!each.mask) throw Failure("a write-back of nothing");
        for (const auto& other : reads) {
            if (other.line == each.line) throw Failure("a line is written back that is in flight");
        }
        for (const auto& other : writes) {
            if (other.line == each.line) throw Failure("a line is written back whose write-back is not answered");
        }
        if (!each.is_late && !is_error(each.line)) apply(each);
        writes.push_back(each);
        if (writes.size() > setup.outstanding) throw Failure("too many write-backs are under way");
        if (result.writes < setup.log_size) {
            setup.writes[result.writes] = each.line, setup.masks[result.writes] = each.mask;
        }
        ++result.writes;
    }

    void watch_lost(std::uint64_t line, std::uint64_t events) {
        const std::uint64_t valid = bits(ports.lost, 0, 1), client = bits(ports.lost, 1, 4);
        const std::uint64_t address = bits(ports.lost, 5, 32);
        if (events > 1) throw Failure("two errors in a cycle");
        if (valid != events) throw Failure(events ? "an error is not reported" : "something is lost that was not error");
        if (!valid) return;
        if (client != 7 || address != line * LINE_BYTES) throw Failure("an error is reported of something else");
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
        for (unsigned quiet = 0; quiet < QUIET_CYCLES; ++now) {
            if (setup.stop && now == setup.stop) return;
            check_time();
            step();
            quiet = done == setup.commands_count && finished() && *ports.idle ? quiet + 1 : 0;
        }
        result.flags = *ports.format_legal | *ports.tests_pe << 1 | *ports.tests_dpp << 2;
        for (flushing = setup.flushes; flushing; ++now) check_time(), step();
        if (!*ports.idle || !memory.is_quiet()) throw Failure("it is not idle behind the last answer");
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
                + std::to_string(setup.clients[client].count) + ", answered " + std::to_string(received[client]);
        }
        return text;
    }

    bool finished() const {
        return received[0] == setup.clients[0].count && received[1] == setup.clients[1].count;
    }

    void step() {
        const bool left = done < setup.commands_count, commands = left && now >= setup.commands_from;
        *ports.command.valid = commands;
        set(ports.command.payload, commands ? setup.commands + done * ports.command.payload.bytes : nullptr);
        *ports.invalidate = setup.invalidates && !left && !invalidated;
        for (int client = 0; client < 2; ++client) drive(client, (left && !setup.commands_from) || *ports.invalidate);
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
        if (*ports.unit_idle && waits) throw Failure("the unit is idle before all answers were taken");
        if (*ports.idle && (waits || !memory.is_quiet() || *ports.line_request.valid || *ports.line_write.valid)) {
            throw Failure("it is idle with something under way");
        }
        if (*ports.flushed && !memory.is_quiet()) throw Failure("it is flushed before memory has answered");
    }

    void watch(int client) {
        const Stream &request = ports.requests[client], &response = ports.responses[client];
        const Client& own = setup.clients[client];
        if (*response.valid) {
            if (received[client] >= sent[client]) throw Failure("an answer that nobody has asked for: " + state());
            if (!seen[client]) own.offered[received[client]] = now, seen[client] = true;
        }
        if (responses[client].take()) {
            const Port& payload = response.payload;
            std::memcpy(own.responses + received[client] * payload.bytes, payload.bits, payload.bytes);
            own.answered[received[client]++] = now, seen[client] = false;
        }
        if (*request.valid && *request.ready) own.taken[sent[client]++] = now, offered[client] = false;
    }
};

struct Unit {
    VerilatedContext context;
    Model model{&context};

    // What memories contain stays.
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

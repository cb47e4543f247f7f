// The clock of a compiled cache, of its clients, and of a memory of lines.
//
// In every cycle the inputs are driven, the cache settles, its transfers are checked and taken, and the clock rises.
// Payloads that are not valid, and the bits of lines with an error, are a poison.
// cache_simulation.py concatenates unit_loop.h, the declarations with `ports(model)`, and this text.

namespace {

constexpr std::size_t LINE_BYTES = 64;
constexpr unsigned IDLE_CYCLES = 20;  // After the last response: no transfer may follow.

struct Client {
    const char* requests;  // `count` payloads as the port has them
    char* responses;
    std::uint64_t* taken;      // Cycles in which each request was taken,
    std::uint64_t* responded;  // in which its response was taken,
    std::uint64_t* offered;    // and in which its response was first offered.
    std::uint64_t count;
};

struct Setup {
    const char* memory;
    const Client* clients;
    const std::uint64_t* error_lines;  // Pairs of lines [first, end)
    std::uint64_t error_lines_count;
    const char* inputs;  // `inputs_count` payloads of `written`
    std::uint64_t inputs_count;
    std::uint32_t* lines;  // Log of the requests for lines: line * 2 + uncached
    std::uint64_t lines_size, latency, jitter, stall, seed, max_cycles, outstanding, invalidates;
    std::uint64_t tagged;  // Clients request lines, too, and get them in any order
};

struct Result {
    std::uint64_t failed, lines, hits, misses, most_in_flight;
    char message[256];
};

struct ComingLine {
    std::uint64_t line, tag, due;
};

// The bits of a line's number and of the tags of its request and response.
constexpr std::uint64_t LINE_MASK = 0x3FFFFFF;
constexpr unsigned UNCACHED_BIT = 26, REQUEST_TAG = 27, RESPONSE_TAG = 513;
constexpr std::uint64_t NONE = ~std::uint64_t{0};

std::uint64_t low_bits(const void* payload, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, payload, std::min<std::size_t>(bytes, 8));
    return value;
}

// Which request a tag belongs to.
struct Tags {
    std::vector<std::uint64_t> requests;

    std::uint64_t& at(std::uint64_t tag) {
        if (tag >= requests.size()) requests.resize(tag + 1, NONE);
        return requests[tag];
    }
};

class Run {
public:
    Run(Model& model, const Setup& setup, Result& result)
        : model(model), setup(setup), result(result), ports(::ports(model)), chance{setup.seed, setup.stall},
          memories(ports.line_requests.size()) {
        for (const Stream& stream : ports.line_requests) line_requests.push_back({stream, "line_request", {}});
        for (const Stream& stream : ports.responses) responses.push_back({stream, "response", {}});
        sent.resize(ports.requests.size()), received.resize(ports.requests.size());
        offered.resize(ports.requests.size()), seen.resize(ports.requests.size());
        tags.resize(ports.requests.size());
    }

    void run() {
        *ports.invalidate = setup.invalidates;
        for (auto& stream : ports.requests) *stream.valid = 0;
        for (auto& stream : ports.responses) set_ready(stream, false);
        for (auto& stream : ports.line_requests) *stream.ready = 0;
        for (auto& stream : ports.line_responses) *stream.valid = 0;
        for (std::uint64_t number = 0; number < setup.inputs_count; ++number) {
            set(ports.written, setup.inputs + number * ports.written.bytes);
            model.eval();
            clock();
        }
        if (setup.inputs_count) set(ports.written, std::vector<char>(ports.written.bytes).data());
        model.eval();
        if (!*ports.idle) throw Failure("it is not idle before the first request");
        clock();
        *ports.invalidate = 0;
        for (unsigned idle_cycles = 0; idle_cycles < IDLE_CYCLES; ++now) {
            if (now == setup.max_cycles) throw Failure("it takes too long: " + state());
            step();
            idle_cycles = finished() ? idle_cycles + 1 : 0;
        }
        if (!*ports.idle) throw Failure("it is not idle after the last response");
    }

private:
    Model& model;
    const Setup& setup;
    Result& result;
    Ports ports;
    Chance chance;
    std::vector<std::deque<ComingLine>> memories;  // Lines in flight at each port
    std::vector<Offered> line_requests, responses;
    std::vector<std::uint64_t> sent, received;
    std::vector<bool> offered, seen;
    std::vector<Tags> tags;
    std::uint64_t now = 0;

    void clock() {
        model.clk = 1;
        model.eval();
        model.clk = 0;
    }

    std::string state() const {
        std::string text = "lines in flight:";
        for (const auto& coming : memories) text += " " + std::to_string(coming.size());
        for (std::size_t client = 0; client < sent.size(); ++client) {
            text += "; client " + std::to_string(client) + ": sent " + std::to_string(sent[client]) + " of "
                + std::to_string(setup.clients[client].count) + ", responses " + std::to_string(received[client]);
        }
        return text;
    }

    bool finished() const {
        for (std::size_t client = 0; client < sent.size(); ++client) {
            if (received[client] != setup.clients[client].count) return false;
        }
        return true;
    }

    void step() {
        for (std::size_t client = 0; client < sent.size(); ++client) drive(client);
        std::vector<std::size_t> chosen;
        for (std::size_t port = 0; port < memories.size(); ++port) chosen.push_back(drive_lines(port));
        model.eval();
        watch_idle();
        result.hits += __builtin_popcount(*ports.hit), result.misses += __builtin_popcount(*ports.miss);
        for (std::size_t port = 0; port < memories.size(); ++port) {
            if (line_requests[port].take()) take_line_request(port);
        }
        for (std::size_t client = 0; client < sent.size(); ++client) watch(client);
        model.clk = 1;
        model.eval();
        model.clk = 0;
        for (std::size_t port = 0; port < memories.size(); ++port) {
            if (chosen[port] != NONE) came(port, chosen[port]);
        }
    }

    void drive(std::size_t client) {
        const Stream& stream = ports.requests[client];
        if (!offered[client]) offered[client] = can_send(client) && !chance.withholds();
        *stream.valid = offered[client];
        const char* requests = setup.clients[client].requests;
        set(stream.payload, offered[client] ? requests + sent[client] * stream.payload.bytes : nullptr);
        set_ready(ports.responses[client], !chance.withholds());
    }

    // A tag that is in flight must return first.
    bool can_send(std::size_t client) {
        const Client& own = setup.clients[client];
        if (sent[client] == own.count) return false;
        return !setup.tagged || tags[client].at(request_tag(client)) == NONE;
    }

    std::uint64_t request_tag(std::size_t client) const {
        const std::size_t bytes = ports.requests[client].payload.bytes;
        return low_bits(setup.clients[client].requests + sent[client] * bytes, bytes) >> REQUEST_TAG;
    }

    static void set_ready(const Stream& stream, bool ready) {
        if (stream.ready) *stream.ready = ready;
    }

    // The index of the line that comes in this cycle, NONE if none does. With a jitter it is any of those that are due.
    std::size_t drive_lines(std::size_t port) {
        *ports.line_requests[port].ready = !chance.withholds();
        const auto& coming = memories[port];
        std::vector<std::size_t> due;
        for (std::size_t index = 0; index < coming.size(); ++index) {
            if (coming[index].due <= now) due.push_back(index);
        }
        const bool comes = !due.empty() && !chance.withholds();
        const std::size_t which = comes ? due[setup.jitter ? chance.next() % due.size() : 0] : NONE;
        drive_line(ports.line_responses[port], comes ? &coming[which] : nullptr);
        return which;
    }

    void came(std::size_t port, std::size_t which) {
        auto& coming = memories[port];
        coming.erase(coming.begin() + static_cast<std::ptrdiff_t>(which));
    }

    void drive_line(const Stream& stream, const ComingLine* comes) {
        *stream.valid = comes != nullptr;
        auto* payload = static_cast<unsigned char*>(stream.payload.bits);
        set(stream.payload, nullptr);
        if (!comes) return;
        const bool error = is_error(comes->line);
        if (!error) std::memcpy(payload, setup.memory + comes->line * LINE_BYTES, LINE_BYTES);
        const std::uint64_t above = error | comes->tag << (RESPONSE_TAG - 8 * LINE_BYTES);
        std::memcpy(payload + LINE_BYTES, &above, stream.payload.bytes - LINE_BYTES);
    }

    bool is_error(std::uint64_t line) const {
        for (std::uint64_t range = 0; range < setup.error_lines_count; ++range) {
            if (setup.error_lines[2 * range] <= line && line < setup.error_lines[2 * range + 1]) return true;
        }
        return false;
    }

    void watch_idle() const {
        if (!*ports.idle) return;
        for (std::size_t port = 0; port < memories.size(); ++port) {
            const bool requests = *ports.line_requests[port].valid;
            if (!memories[port].empty() || requests) throw Failure("it is idle with lines in flight");
        }
        if (sent != received) throw Failure("it is idle before all responses were taken");
    }

    void take_line_request(std::size_t port) {
        const Stream& stream = ports.line_requests[port];
        auto& coming = memories[port];
        const std::uint64_t bits = low_bits(stream.payload.bits, stream.payload.bytes);
        const std::uint32_t line = bits & LINE_MASK, uncached = bits >> UNCACHED_BIT & 1;
        if (result.lines < setup.lines_size) setup.lines[result.lines] = line << 1 | uncached;
        ++result.lines;
        const std::uint64_t delay = setup.latency + (setup.jitter ? chance.next() % (setup.jitter + 1) : 0);
        const std::uint64_t tag = bits >> REQUEST_TAG;
        for (const ComingLine& other : coming) {
            if (other.tag == tag) throw Failure("a tag is used again before its line has come: " + state());
        }
        coming.push_back({line, tag, now + delay});
        result.most_in_flight = std::max<std::uint64_t>(result.most_in_flight, coming.size());
        if (coming.size() > setup.outstanding) throw Failure("too many lines are in flight: " + state());
    }

    void watch(std::size_t client) {
        const Stream &request = ports.requests[client], &response = ports.responses[client];
        const Client& own = setup.clients[client];
        if (*response.valid) {
            if (received[client] >= sent[client]) throw Failure("a response without a request: " + state());
            if (!seen[client]) own.offered[request_of_response(client)] = now, seen[client] = true;
        }
        if (responses[client].take()) {
            const std::uint64_t number = request_of_response(client);
            const Port& payload = response.payload;
            std::memcpy(own.responses + number * payload.bytes, payload.bits, payload.bytes);
            own.responded[number] = now, seen[client] = false, ++received[client];
            if (setup.tagged) tags[client].at(response_tag(client)) = NONE;
        }
        if (*request.valid && *request.ready) {
            if (setup.tagged) tags[client].at(request_tag(client)) = sent[client];
            own.taken[sent[client]++] = now, offered[client] = false;
        }
    }

    std::uint64_t response_tag(std::size_t client) const {
        const Stream& stream = ports.responses[client];
        const auto* above = static_cast<const unsigned char*>(stream.payload.bits) + LINE_BYTES;
        return low_bits(above, stream.payload.bytes - LINE_BYTES) >> (RESPONSE_TAG - 8 * LINE_BYTES);
    }

    std::uint64_t request_of_response(std::size_t client) {
        if (!setup.tagged) return received[client];
        const std::uint64_t number = tags[client].at(response_tag(client));
        if (number == NONE) throw Failure("a response with a tag that is not in flight: " + state());
        return number;
    }
};

struct Cache {
    VerilatedContext context;
    Model model{&context};
};

}  // namespace

EXPORTED void* cache_make() {
    auto* cache = new Cache;
    Model& model = cache->model;
    model.clk = 0, model.rst = 1;
    model.eval();
    model.clk = 1;
    model.eval();
    model.clk = 0, model.rst = 0;
    return cache;
}

EXPORTED void cache_free(void* cache) { delete static_cast<Cache*>(cache); }

// A reset while it works. Memories keep their contents.
EXPORTED void cache_reset(void* cache) {
    Model& model = static_cast<Cache*>(cache)->model;
    model.rst = 1;
    model.eval();
    model.clk = 1;
    model.eval();
    model.clk = 0, model.rst = 0;
}

EXPORTED void cache_run(void* cache, const Setup* setup, Result* result) {
    *result = {};
    try {
        Run(static_cast<Cache*>(cache)->model, *setup, *result).run();
    } catch (const Failure& failure) {
        result->failed = 1;
        std::snprintf(result->message, sizeof result->message, "%s", failure.what());
    }
}

// The clock of a compiled cache: clients in front of it, a memory of lines behind it.
//
// In every cycle the inputs are driven, the cache settles, what it offers and takes is looked at, and the clock rises.
// Payloads that are not valid, and the bits of lines with an error, are a poison.
// The generated part in front of this gives `ports(model)`.

namespace {

constexpr std::size_t LINE_BYTES = 64;
constexpr unsigned QUIET_CYCLES = 20;  // Behind the last answer, in which nothing more may come.

struct Client {
    const char* requests;  // `count` payloads as the port has them
    char* responses;
    std::uint64_t* taken;     // Cycle in which each request was taken
    std::uint64_t* answered;  // and in which its answer was
    std::uint64_t* offered;   // and in which it was offered.
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
    std::uint64_t tagged;  // Clients' requests and answers are those for lines, in any order
};

struct Result {
    std::uint64_t failed, lines, hits, misses, most_under_way;
    char message[256];
};

struct ComingLine {
    std::uint64_t line, tag, due;
};

// Where a line's number, and the tags of its request and answer, are.
constexpr std::uint64_t LINE_MASK = 0x3FFFFFF;
constexpr unsigned UNCACHED_BIT = 26, REQUEST_TAG = 27, ANSWER_TAG = 513;
constexpr std::uint64_t NOBODY = ~std::uint64_t{0};

std::uint64_t low_bits(const void* payload, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, payload, std::min<std::size_t>(bytes, 8));
    return value;
}

// Which request a tag belongs to.
struct Tags {
    std::vector<std::uint64_t> whose;

    std::uint64_t& at(std::uint64_t tag) {
        if (tag >= whose.size()) whose.resize(tag + 1, NOBODY);
        return whose[tag];
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
        for (unsigned quiet = 0; quiet < QUIET_CYCLES; ++now) {
            if (now == setup.max_cycles) throw Failure("it takes too long: " + state());
            step();
            quiet = finished() ? quiet + 1 : 0;
        }
        if (!*ports.idle) throw Failure("it is not idle behind the last answer");
    }

private:
    Model& model;
    const Setup& setup;
    Result& result;
    Ports ports;
    Chance chance;
    std::vector<std::deque<ComingLine>> memories;  // Lines under way, behind each port
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
        std::string text = "lines under way:";
        for (const auto& coming : memories) text += " " + std::to_string(coming.size());
        for (std::size_t client = 0; client < sent.size(); ++client) {
            text += "; client " + std::to_string(client) + ": sent " + std::to_string(sent[client]) + " of "
                + std::to_string(setup.clients[client].count) + ", answered " + std::to_string(received[client]);
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
            if (chosen[port] != NOBODY) came(port, chosen[port]);
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

    // A tag that is under way has to come back first.
    bool can_send(std::size_t client) {
        const Client& own = setup.clients[client];
        if (sent[client] == own.count) return false;
        return !setup.tagged || tags[client].at(request_tag(client)) == NOBODY;
    }

    std::uint64_t request_tag(std::size_t client) const {
        const std::size_t bytes = ports.requests[client].payload.bytes;
        return low_bits(setup.clients[client].requests + sent[client] * bytes, bytes) >> REQUEST_TAG;
    }

    static void set_ready(const Stream& stream, bool ready) {
        if (stream.ready) *stream.ready = ready;
    }

    // The line that comes in this cycle, if one does: of those that are due any one, if there is a jitter.
    std::size_t drive_lines(std::size_t port) {
        *ports.line_requests[port].ready = !chance.withholds();
        const auto& coming = memories[port];
        std::vector<std::size_t> due;
        for (std::size_t place = 0; place < coming.size(); ++place) {
            if (coming[place].due <= now) due.push_back(place);
        }
        const bool answers = !due.empty() && !chance.withholds();
        const std::size_t which = answers ? due[setup.jitter ? chance.next() % due.size() : 0] : NOBODY;
        drive_line(ports.line_responses[port], answers ? &coming[which] : nullptr);
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
        const std::uint64_t above = error | comes->tag << (ANSWER_TAG - 8 * LINE_BYTES);
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
            const bool asks = *ports.line_requests[port].valid;
            if (!memories[port].empty() || asks) throw Failure("it is idle with lines under way");
        }
        if (sent != received) throw Failure("it is idle before all answers were taken");
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
        result.most_under_way = std::max<std::uint64_t>(result.most_under_way, coming.size());
        if (coming.size() > setup.outstanding) throw Failure("too many lines are under way: " + state());
    }

    void watch(std::size_t client) {
        const Stream &request = ports.requests[client], &response = ports.responses[client];
        const Client& own = setup.clients[client];
        if (*response.valid) {
            if (received[client] >= sent[client]) throw Failure("an answer that nobody has asked for: " + state());
            if (!seen[client]) own.offered[answered_request(client)] = now, seen[client] = true;
        }
        if (responses[client].take()) {
            const std::uint64_t number = answered_request(client);
            const Port& payload = response.payload;
            std::memcpy(own.responses + number * payload.bytes, payload.bits, payload.bytes);
            own.answered[number] = now, seen[client] = false, ++received[client];
            if (setup.tagged) tags[client].at(answer_tag(client)) = NOBODY;
        }
        if (*request.valid && *request.ready) {
            if (setup.tagged) tags[client].at(request_tag(client)) = sent[client];
            own.taken[sent[client]++] = now, offered[client] = false;
        }
    }

    std::uint64_t answer_tag(std::size_t client) const {
        const Stream& stream = ports.responses[client];
        const auto* above = static_cast<const unsigned char*>(stream.payload.bits) + LINE_BYTES;
        return low_bits(above, stream.payload.bytes - LINE_BYTES) >> (ANSWER_TAG - 8 * LINE_BYTES);
    }

    std::uint64_t answered_request(std::size_t client) {
        if (!setup.tagged) return received[client];
        const std::uint64_t number = tags[client].at(answer_tag(client));
        if (number == NOBODY) throw Failure("an answer with a tag that nobody has given: " + state());
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

// A reset while it works. The contents of memories stay.
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

// The clock of a compiled cache: clients in front of it, a memory of lines behind it.
//
// In every cycle the inputs are driven, the cache settles, what it offers and takes is looked at, and the clock rises.
// Payloads that are not valid, and the bits of refused lines, are a poison.
// The generated part in front of this gives `ports(model)`.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t LINE_BYTES = 64;
constexpr int POISON = 0xA5;
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
    const std::uint64_t* refused;  // Pairs of lines [first, end)
    std::uint64_t refused_count;
    const char* inputs;
    std::uint32_t* lines;  // Log of the requests for lines: line * 2 + uncached
    std::uint64_t lines_size, latency, jitter, stall, seed, max_cycles, outstanding, invalidates;
};

struct Result {
    std::uint64_t failed, lines, hits, misses, most_under_way;
    char message[256];
};

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The same for the same seed.
struct Chance {
    std::uint64_t state, stall;

    std::uint64_t next() {  // SplitMix64
        std::uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
    bool withholds() { return stall && next() % 65536 < stall; }
};

// A stream that the cache offers; without a ready of its own it is always taken. What is offered must stay, unchanged, until it is taken.
struct Offered {
    const Stream& stream;
    const char* name;
    std::vector<char> waiting;

    bool take() {
        const char* payload = static_cast<const char*>(stream.payload);
        if (!waiting.empty()) {
            if (!*stream.valid) throw Failure(std::string(name) + ": valid fell before it was taken");
            if (std::memcmp(payload, waiting.data(), stream.bytes)) throw Failure(std::string(name) + " has changed");
        }
        waiting.clear();
        const bool ready = !stream.ready || *stream.ready;
        if (*stream.valid && !ready) waiting.assign(payload, payload + stream.bytes);
        return *stream.valid && ready;
    }
};

struct ComingLine {
    std::uint64_t line, due;
};

class Run {
public:
    Run(Model& model, const Setup& setup, Result& result)
        : model(model), setup(setup), result(result), ports(::ports(model)), chance{setup.seed, setup.stall},
          line_request{ports.line_request, "line_request", {}} {
        for (const Stream& stream : ports.responses) responses.push_back({stream, "response", {}});
        sent.resize(ports.requests.size()), received.resize(ports.requests.size());
        offered.resize(ports.requests.size()), seen.resize(ports.requests.size());
    }

    void run() {
        if (setup.inputs) std::memcpy(ports.inputs.payload, setup.inputs, ports.inputs.bytes);
        *ports.invalidate = setup.invalidates;
        for (auto& stream : ports.requests) *stream.valid = 0;
        for (auto& stream : ports.responses) set_ready(stream, false);
        *ports.line_request.ready = *ports.line_response.valid = 0;
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
    Offered line_request;
    std::vector<Offered> responses;
    std::vector<std::uint64_t> sent, received;
    std::vector<bool> offered, seen;
    std::deque<ComingLine> coming;
    std::uint64_t now = 0;

    void clock() {
        model.clk = 1;
        model.eval();
        model.clk = 0;
    }

    std::string state() const {
        std::string text = std::to_string(coming.size()) + " lines under way";
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
        *ports.line_request.ready = !chance.withholds();
        const bool answers = !coming.empty() && coming.front().due <= now && !chance.withholds();
        drive_line(answers);
        model.eval();
        watch_idle();
        result.hits += std::popcount(*ports.hit), result.misses += std::popcount(*ports.miss);
        if (line_request.take()) take_line_request();
        for (std::size_t client = 0; client < sent.size(); ++client) watch(client);
        model.clk = 1;
        model.eval();
        model.clk = 0;
        if (answers) coming.pop_front();
    }

    void drive(std::size_t client) {
        const Stream& stream = ports.requests[client];
        if (!offered[client]) offered[client] = sent[client] < setup.clients[client].count && !chance.withholds();
        *stream.valid = offered[client];
        if (offered[client]) {
            std::memcpy(stream.payload, setup.clients[client].requests + sent[client] * stream.bytes, stream.bytes);
        } else {
            std::memset(stream.payload, POISON, stream.bytes), mask_payload(stream);
        }
        set_ready(ports.responses[client], !chance.withholds());
    }

    static void set_ready(const Stream& stream, bool ready) {
        if (stream.ready) *stream.ready = ready;
    }

    // Bits beyond a port's width must be zero.
    static void mask_payload(const Stream& stream) {
        auto* bytes = static_cast<unsigned char*>(stream.payload);
        for (std::size_t bit = stream.width; bit < 8 * stream.bytes; ++bit) bytes[bit / 8] &= ~(1 << bit % 8);
    }

    void drive_line(bool answers) {
        const Stream& stream = ports.line_response;
        *stream.valid = answers;
        auto* payload = static_cast<unsigned char*>(stream.payload);
        std::memset(payload, POISON, stream.bytes), mask_payload(stream);
        if (!answers) return;
        const bool refused = is_refused(coming.front().line);
        if (!refused) std::memcpy(payload, setup.memory + coming.front().line * LINE_BYTES, LINE_BYTES);
        payload[LINE_BYTES] = refused;
    }

    bool is_refused(std::uint64_t line) const {
        for (std::uint64_t range = 0; range < setup.refused_count; ++range) {
            if (setup.refused[2 * range] <= line && line < setup.refused[2 * range + 1]) return true;
        }
        return false;
    }

    void watch_idle() const {
        if (!*ports.idle) return;
        if (!coming.empty() || *ports.line_request.valid) throw Failure("it is idle with lines under way");
        if (sent != received) throw Failure("it is idle before all answers were taken");
    }

    void take_line_request() {
        std::uint32_t bits;
        std::memcpy(&bits, ports.line_request.payload, sizeof bits);
        const std::uint32_t line = bits & 0x3FFFFFF, uncached = bits >> 26;
        if (result.lines < setup.lines_size) setup.lines[result.lines] = line << 1 | uncached;
        ++result.lines;
        const std::uint64_t delay = setup.latency + (setup.jitter ? chance.next() % (setup.jitter + 1) : 0);
        coming.push_back({line, now + delay});
        result.most_under_way = std::max<std::uint64_t>(result.most_under_way, coming.size());
        if (coming.size() > setup.outstanding) throw Failure("too many lines are under way: " + state());
    }

    void watch(std::size_t client) {
        const Stream &request = ports.requests[client], &response = ports.responses[client];
        const Client& own = setup.clients[client];
        if (*response.valid) {
            if (received[client] >= sent[client]) throw Failure("an answer that nobody has asked for: " + state());
            if (!seen[client]) own.offered[received[client]] = now, seen[client] = true;
        }
        if (responses[client].take()) {
            std::memcpy(own.responses + received[client] * response.bytes, response.payload, response.bytes);
            own.answered[received[client]++] = now, seen[client] = false;
        }
        if (*request.valid && *request.ready) own.taken[sent[client]++] = now, offered[client] = false;
    }
};

struct Cache {
    VerilatedContext context;
    Model model{&context};
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

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

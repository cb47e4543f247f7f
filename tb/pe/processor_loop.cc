// The clock of a compiled command processor, and a model of all that is around it.
//
// In every cycle the inputs are driven, the processor settles, what it offers and takes is looked at, and the clock
// rises. Payloads that are not valid, and the bits of refused lines, are a poison.
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
enum Event : u32 { BUFFER, UNIT, STARTS, GROUP, ERROR, CONSUMED, COUNTERS, IMAGE, FAULT, WALKED };

struct Fault {
    u64 program, group, status, client, pc, i, j, address;
};

struct Loss {
    u64 at_flush, number, client, address;  // Of the program or flush with this number
};

struct Setup {
    const char* memory;
    const u64* refused;  // Pairs of lines [first, end)
    u64 refused_count;
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

class Run {
public:
    Run(Model& model, const Setup& setup, Result& result)
        : model(model), setup(setup), result(result), ports(::ports(model)), chance{setup.seed, setup.stall},
          line_request{ports.line_request, "line_request"}, group{ports.group, "group"},
          test_request{ports.test_request, "test_request"}, mc{{ports.mc_command, "mc_command"}},
          co{{ports.co_command, "co_command"}}, counters{{ports.counters_write, "counters_write"}} {}

    void run() {
        for (unsigned quiet = 0; quiet < QUIET_CYCLES && !(setup.cut && now == setup.cut); ++now) {
            if (now == setup.max_cycles) throw Failure("it takes too long");
            step();
            const bool over = next_buffer == setup.buffers_count && !executing;
            quiet = over ? quiet + 1 : 0;
            if (over && !*ports.idle) throw Failure("it is not idle behind the last buffer");
        }
        result.cycles = now;
    }

private:
    Model& model;
    const Setup& setup;
    Result& result;
    Ports ports;
    Chance chance;
    Offered line_request, group, test_request;
    Sink mc, co, counters;
    std::deque<Coming> lines, tests, written;
    std::vector<Resident> residents;
    std::vector<u64> writing;  // Programs whose outputs are on their way
    u64 now = 0, next_buffer = 0, wait = 0, programs = 0, groups = 0, flushes = 0, walked = 0, mc_busy = 0;
    bool executing = false, buffer_offered = false, has_failed = false, is_lost = false, has_refused = false;
    bool running = false, shown_idle = true, was_idle = true;
    u64 first_line = 0, end_lines = 0, lost_client = 0, lost_address = 0, refused_address = 0;
    u32 value = 0;
    // What commands have set.
    u32 base = 0, output_format = 0, conditional_format = 0, conditional_test = 7;
    bool in_processor = true, conditional_write = false;

    void log(Event kind, std::vector<u64> words) {
        if (result.events + words.size() + 3 > setup.events_size) throw Failure("the log of events is too short");
        setup.events[result.events++] = kind;
        setup.events[result.events++] = now;
        setup.events[result.events++] = words.size();
        for (u64 word : words) setup.events[result.events++] = word;
    }

    bool is_refused(u64 line) const {
        for (u64 range = 0; range < setup.refused_count; ++range) {
            if (setup.refused[2 * range] <= line && line < setup.refused[2 * range + 1]) return true;
        }
        return false;
    }

    void step() {
        drive_buffer();
        *ports.line_request.ready = !chance.withholds();
        drive_line();
        drive_array();
        drive_tests();
        drive_units();
        model.eval();
        // What depends on the image is settled in the same cycle.
        drive_legality();
        model.eval();
        watch_buffer();
        watch_lines();
        watch_units();
        watch_program();
        model.clk = 1;
        model.eval();
        model.clk = 0;
    }

    void drive_buffer() {
        const Stream& stream = ports.buffer;
        if (wait) --wait;
        if (!buffer_offered) buffer_offered = next_buffer < setup.buffers_count && !wait && !chance.withholds();
        *stream.valid = buffer_offered;
        poison(stream.payload);
        if (!buffer_offered) return;
        put(stream.payload, buffer_address, setup.buffers[2 * next_buffer]);
        put(stream.payload, buffer_dwords, setup.buffers[2 * next_buffer + 1]);
    }

    void watch_buffer() {
        if (*ports.idle && (executing || !lines.empty())) throw Failure("it is idle while it works");
        if (*ports.error.valid) {
            const Port& error = ports.error.payload;
            if (has_failed) throw Failure("a second error");
            if (!executing) throw Failure("an error without a buffer");
            has_failed = true;
            finish_program();
            log(ERROR, {get(error, error_status), get(error, error_client), get(error, error_address),
                        get(error, error_word), get(error, error_pc), get(error, error_i), get(error, error_j)});
        }
        if (*ports.consumed) {
            if (!executing) throw Failure("something is consumed without a buffer");
            finish_program();
            log(CONSUMED, {});
            // The host clears an error after a time; a next buffer may wait already.
            if (has_failed) wait = 1 + chance.below(setup.delay + 1);
            executing = has_failed = false;
        } else if (*ports.buffer.valid && *ports.buffer.ready) {
            const u64 address = setup.buffers[2 * next_buffer], dwords = setup.buffers[2 * next_buffer + 1];
            if (executing) throw Failure("a buffer is taken while another is executed");
            log(BUFFER, {});
            executing = true, buffer_offered = false, ++next_buffer;
            first_line = address / LINE_BYTES, end_lines = (address % LINE_BYTES + 4 * dwords + 63) / LINE_BYTES;
            wait = setup.stall ? chance.below(20) : 0;
        }
    }

    void drive_line() {
        const Stream& stream = ports.line_response;
        poison(stream.payload);
        *stream.valid = 0;
        if (lines.empty() || lines.front().due > now) return;
        *stream.valid = 1;
        const bool refused = is_refused(lines.front().what);
        put(stream.payload, line_refused, refused);
        if (!refused) std::memcpy(stream.payload.bits, setup.memory + lines.front().what * LINE_BYTES, LINE_BYTES);
    }

    void watch_lines() {
        if (line_request.take()) {
            const u64 line = get(ports.line_request.payload, request_line);
            if (!executing) throw Failure("a line is asked for without a buffer");
            const bool in_buffer = (line - first_line) % SPACE_LINES < end_lines;
            if (!in_buffer && (line - base / LINE_BYTES) % SPACE_LINES >= IMAGE_LINES) {
                throw Failure("a line is asked for that nobody needs: " + std::to_string(line));
            }
            lines.push_back({line, now + 1 + setup.latency + chance.below(setup.jitter + 1)});
            result.most_lines = std::max<u64>(result.most_lines, lines.size());
            if (lines.size() > MOST_LINES) throw Failure("too many lines are under way");
        }
        if (*ports.line_response.valid && *ports.line_response.ready) lines.pop_front();
    }

    // Array: it holds groups for a time and looks idle one cycle too long.
    void drive_array() {
        *ports.fault.valid = 0;
        poison(ports.fault.payload);
        for (auto& each : residents) each.left -= each.left != 0;
        auto ended = std::find_if(residents.begin(), residents.end(), [](auto& each) { return each.left == 0; });
        if (ended != residents.end()) {
            end_group(ended->number);
            residents.erase(ended);
        }
        const bool is_idle = std::all_of(residents.begin(), residents.end(), [&](auto& each) {
            return each.given + 1 == now;
        });
        if (residents.empty() && !was_idle) writing.push_back(programs - 1), mc_busy = chance.below(setup.hold + 1);
        else if (residents.empty() && mc_busy) --mc_busy;
        if (residents.empty() && !mc_busy) {
            for (u64 program : writing) lose(false, program);
            writing.clear();
        }
        was_idle = residents.empty();
        *ports.array_idle = shown_idle = is_idle;
        *ports.mc_idle = residents.empty() && !mc_busy;
        *ports.group.ready = residents.size() < RESIDENT && !chance.withholds();
    }

    void end_group(u64 number) {
        for (u64 index = 0; index < setup.faults_count; ++index) {
            const Fault& fault = setup.faults[index];
            if (fault.program + 1 != programs || fault.group != number) continue;
            const Port& port = ports.fault.payload;
            *ports.fault.valid = 1;
            put(port, fault_status, fault.status), put(port, fault_client, fault.client);
            put(port, fault_pc, fault.pc), put(port, fault_i, fault.i), put(port, fault_j, fault.j);
            if (fault.status == BUS_ERROR_STATUS && !has_refused) has_refused = true, refused_address = fault.address;
            log(FAULT, {programs - 1, index});
            break;
        }
    }

    void lose(bool at_flush, u64 number) {
        for (u64 index = 0; index < setup.losses_count; ++index) {
            const Loss& loss = setup.losses[index];
            if (loss.at_flush != at_flush || loss.number != number || is_lost) continue;
            is_lost = true, lost_client = loss.client, lost_address = loss.address;
        }
    }

    void drive_tests() {
        const Stream& stream = ports.test_response;
        *ports.test_request.ready = !chance.withholds();
        poison(stream.payload);
        *stream.valid = !tests.empty() && tests.front().due <= now;
        if (*stream.valid) put(stream.payload, response_passed, tests.front().what);
    }

    u64 passed(const Port& request) const {
        u64 result = 0;
        for (unsigned lane = 0; lane < LANES; ++lane) {
            const u32 i = get(request, test_i) + 2 * (lane / 4) + lane % 2, j = get(request, test_j) + lane % 4 / 2;
            const u32 tested = get(request, {test_values.offset + 32 * lane, 32});
            if (tested != value) throw Failure("a lane's conditional value is not the program's");
            const bool passes = conditional_test == 7 || mix(mix(i << 16 ^ j ^ setup.salt) ^ tested) & 1;
            result |= u64{passes} << lane;
        }
        return result & get(request, test_mask);
    }

    void drive_units() {
        mc.drive(chance, setup.delay, *ports.mc_idle), co.drive(chance, setup.delay), counters.drive(chance, setup.delay);
        *ports.lost = is_lost;
        poison(ports.lost_fault);
        if (is_lost) put(ports.lost_fault, lost_fault_client, lost_client), put(ports.lost_fault, lost_fault_address, lost_address);
        poison(ports.refused_address);
        if (has_refused) put(ports.refused_address, {0, 32}, refused_address);
        poison(ports.counters_written.payload);
        *ports.counters_written.valid = !written.empty() && written.front().due <= now;
        if (*ports.counters_written.valid) put(ports.counters_written.payload, {0, 1}, written.front().what);
        *ports.tests = in_processor;
    }

    void drive_legality() {
        const bool reads = conditional_test != 0 && conditional_test != 7, writes = conditional_write && conditional_test;
        const bool is_legal = conditional_format == 0 || conditional_format == 2;
        *ports.conditional_legal = is_legal || !(reads || writes);
        const bool uncached = get(ports.image, {image_information.offset + 32 * UMRT_WORD, 1});
        *ports.launch_status = uncached && output_format != FLOAT32_1_FORMAT ? BAD_UMRT_STATUS : 0;
    }

    void watch_units() {
        if (mc.take()) take_unit(ports.mc_command.payload);
        if (co.take()) take_unit(ports.co_command.payload);
        if (counters.take()) {
            const Port& port = ports.counters_write.payload;
            const u64 address = get(port, counters_address);
            finish_program();
            log(COUNTERS, {address, get(port, counters_clocks), get(port, counters_active)});
            written.push_back({is_refused(address / LINE_BYTES), now + 1 + chance.below(setup.delay + 1)});
        }
        if (*ports.counters_written.valid && *ports.counters_written.ready) written.pop_front();
        if (*ports.lost_taken) {
            if (!is_lost) throw Failure("a loss is taken that is none");
            is_lost = false;
        }
    }

    void take_unit(const Port& port) {
        const u64 opcode = get(port, unit_opcode);
        u32 words[4];
        for (unsigned number = 0; number < 4; ++number) words[number] = get(port, {unit_words.offset + 32 * number, 32});
        if (!residents.empty()) throw Failure("a unit has a command while groups run");
        finish_program();
        log(UNIT, {opcode, words[0], words[1], words[2], words[3]});
        switch (opcode) {
        case 0x0A: base = words[0] & ~0x7FFu; break;
        case 0x0C: if ((words[0] & 15) == 0) output_format = words[2] >> 24 & 7; break;
        case 0x0D: conditional_format = words[1] >> 24 & 7; break;
        case 0x17: case 0x18: lose(true, flushes++); break;
        case 0x1A: conditional_write = words[0] & 1; break;
        case 0x1B: conditional_test = words[0] & 7; break;
        case 0x1C: in_processor = words[0] & 1; break;
        }
    }

    void watch_program() {
        if (*ports.image_loaded) {
            std::vector<u64> words{get(ports.image, image_code), get(ports.image, image_size)};
            for (unsigned number = 0; number < 16; ++number) {
                words.push_back(get(ports.image, {image_information.offset + 32 * number, 32}));
            }
            log(IMAGE, words);
        }
        if (*ports.program_starts) {
            if (!residents.empty() || !tests.empty()) throw Failure("a program starts while another runs");
            finish_program();
            value = *ports.conditional_value;
            log(STARTS, {value});
            ++programs, groups = 0, running = true, has_refused = false;
        }
        if (running && *ports.conditional_value != value && (!residents.empty() || *ports.group.valid)) {
            throw Failure("the conditional value has changed while a program runs");
        }
        walked += *ports.walked;
        result.busy += !*ports.array_idle || *ports.group.valid;
        if (test_request.take()) {
            tests.push_back({passed(ports.test_request.payload), now + 1 + chance.below(setup.delay + 1)});
        }
        if (*ports.test_response.valid && *ports.test_response.ready) tests.pop_front();
        if (group.take()) take_group();
    }

    void take_group() {
        const Port& port = ports.group.payload;
        if (!running) throw Failure("a group without a program");
        log(GROUP, {get(port, group_i), get(port, group_j), get(port, group_covered)});
        residents.push_back({groups++, 2 + chance.below(setup.hold + 1), now});
    }

    // The program before this event is over: all of its domain must have been walked.
    void finish_program() {
        if (!running) return;
        if (!residents.empty() || !shown_idle) throw Failure("something goes on while groups run");
        log(WALKED, {walked});
        running = false, walked = 0;
    }
};

struct Processor {
    VerilatedContext context;
    Model model{&context};
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void* pe_make() {
    auto* processor = new Processor;
    processor->model.clk = 0, processor->model.rst = 0;
    processor->model.eval();
    return processor;
}

EXPORTED void pe_free(void* processor) { delete static_cast<Processor*>(processor); }

EXPORTED void pe_reset(void* processor) {
    Model& model = static_cast<Processor*>(processor)->model;
    model.rst = 1;
    model.eval();
    model.clk = 1;
    model.eval();
    model.clk = 0, model.rst = 0;
}

EXPORTED void pe_run(void* processor, const Setup* setup, Result* result) {
    *result = {};
    try {
        Run(static_cast<Processor*>(processor)->model, *setup, *result).run();
    } catch (const Failure& failure) {
        result->failed = 1;
        std::snprintf(result->message, sizeof result->message, "%s", failure.what());
    }
}

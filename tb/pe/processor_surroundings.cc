// Models of what surrounds a compiled command processor: memory, an array, and a conditional unit.
//
// Payloads that are not valid, and the bits of lines with an error, are a poison. processor_streams.cc precedes this
// text.

namespace {

class Surroundings {
public:
    Surroundings(Model& model, const Setup& setup, Result& result)
        : model(model), setup(setup), result(result), ports(::ports(model)), chance{setup.seed, setup.stall},
          line_request{ports.line_request, "line_request"}, wavefront{ports.wavefront, "wavefront"},
          test_request{ports.test_request, "test_request"}, mc{{ports.mc_command, "mc_command"}},
          co{{ports.co_command, "co_command"}}, counters{{ports.counters_write, "counters_write"}} {}

protected:
    Model& model;
    const Setup& setup;
    Result& result;
    Ports ports;
    Chance chance;
    Offered line_request, wavefront, test_request;
    Sink mc, co, counters;
    std::deque<Coming> lines, tests, written;
    std::vector<Resident> residents;
    std::vector<u64> writing;  // Programs whose outputs are in flight
    u64 now = 0, next_buffer = 0, wait = 0, programs = 0, wavefronts = 0, flushes = 0, walked = 0, mc_busy = 0;
    bool executing = false, buffer_offered = false, has_failed = false, is_lost = false, has_error = false;
    bool running = false, shown_idle = true, was_idle = true;
    u64 first_line = 0, end_lines = 0, lost_client = 0, lost_address = 0, read_error_address = 0;
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

    bool is_error(u64 line) const {
        for (u64 range = 0; range < setup.error_lines_count; ++range) {
            if (setup.error_lines[2 * range] <= line && line < setup.error_lines[2 * range + 1]) return true;
        }
        return false;
    }

    void drive_line() {
        const Stream& stream = ports.line_response;
        poison(stream.payload);
        *stream.valid = 0;
        if (lines.empty() || lines.front().due > now) return;
        *stream.valid = 1;
        const bool error = is_error(lines.front().what);
        put(stream.payload, line_error, error);
        if (!error) std::memcpy(stream.payload.bits, setup.memory + lines.front().what * LINE_BYTES, LINE_BYTES);
    }

    void watch_lines() {
        if (line_request.take()) {
            const u64 line = get(ports.line_request.payload, request_line);
            if (!executing) throw Failure("a line is requested without a buffer");
            const bool in_buffer = (line - first_line) % SPACE_LINES < end_lines;
            if (!in_buffer && (line - base / LINE_BYTES) % SPACE_LINES >= IMAGE_LINES) {
                throw Failure("a line is requested of no buffer and no image: " + std::to_string(line));
            }
            lines.push_back({line, now + 1 + setup.latency + chance.below(setup.jitter + 1)});
            result.most_lines = std::max<u64>(result.most_lines, lines.size());
            if (lines.size() > MOST_LINES) throw Failure("too many lines are in flight");
        }
        if (*ports.line_response.valid && *ports.line_response.ready) lines.pop_front();
    }

    // The array holds wavefronts for some cycles. `array_idle` falls only in the second cycle after it has taken one.
    void drive_array() {
        *ports.fault.valid = 0;
        poison(ports.fault.payload);
        for (auto& each : residents) each.remaining -= each.remaining != 0;
        auto ended = std::find_if(residents.begin(), residents.end(), [](auto& each) { return each.remaining == 0; });
        if (ended != residents.end()) {
            end_wavefront(ended->number);
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
        *ports.wavefront.ready = residents.size() < RESIDENT && !chance.withholds();
    }

    void end_wavefront(u64 number) {
        for (u64 index = 0; index < setup.faults_count; ++index) {
            const Fault& fault = setup.faults[index];
            if (fault.program + 1 != programs || fault.wavefront != number) continue;
            const Port& port = ports.fault.payload;
            *ports.fault.valid = 1;
            put(port, fault_status, fault.status), put(port, fault_client, fault.client);
            put(port, fault_pc, fault.pc), put(port, fault_i, fault.i), put(port, fault_j, fault.j);
            if (fault.status == BUS_ERROR_STATUS && !has_error) has_error = true, read_error_address = fault.address;
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

    void drive_legality() {
        const bool reads = conditional_test != 0 && conditional_test != 7, writes = conditional_write && conditional_test;
        const bool is_legal = conditional_format == 0 || conditional_format == 2;
        *ports.conditional_legal = is_legal || !(reads || writes);
        const bool uncached = get(ports.image, {image_information.offset + 32 * UMRT_WORD, 1});
        *ports.launch_status = uncached && output_format != FLOAT32_1_FORMAT ? BAD_UMRT_STATUS : 0;
    }
};

}  // namespace

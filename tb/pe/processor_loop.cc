// The clock of a compiled command processor, its host and its units.
//
// In every cycle the inputs are driven, the processor settles, its transfers are checked and taken, and the clock
// rises. processor_surroundings.cc precedes this text.

namespace {

// The host, the units and the program that runs, and the clock.
class Run : Surroundings {
public:
    using Surroundings::Surroundings;

    void run() {
        for (unsigned idle_cycles = 0; idle_cycles < IDLE_CYCLES && !(setup.cut && now == setup.cut); ++now) {
            if (now == setup.max_cycles) throw Failure("it takes too long");
            step();
            const bool is_over = next_buffer == setup.buffers_count && !executing;
            idle_cycles = is_over ? idle_cycles + 1 : 0;
            if (is_over && !*ports.idle) throw Failure("it is not idle after the last buffer");
        }
        result.cycles = now;
    }

private:
    void step() {
        drive_buffer();
        *ports.line_request.ready = !chance.withholds();
        drive_line();
        drive_array();
        drive_tests();
        drive_units();
        model.eval();
        // The inputs that depend on the image follow it in the same cycle.
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
            // The host clears an error after some cycles; a next buffer may wait already.
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

    void drive_units() {
        mc.drive(chance, setup.delay, *ports.mc_idle), co.drive(chance, setup.delay), counters.drive(chance, setup.delay);
        *ports.lost = is_lost;
        poison(ports.lost_fault);
        if (is_lost) put(ports.lost_fault, lost_fault_client, lost_client), put(ports.lost_fault, lost_fault_address, lost_address);
        poison(ports.read_error_address);
        if (has_error) put(ports.read_error_address, {0, 32}, read_error_address);
        poison(ports.counters_written.payload);
        *ports.counters_written.valid = !written.empty() && written.front().due <= now;
        if (*ports.counters_written.valid) put(ports.counters_written.payload, {0, 1}, written.front().what);
        *ports.tests = in_processor;
    }

    void watch_units() {
        if (mc.take()) take_unit(ports.mc_command.payload);
        if (co.take()) take_unit(ports.co_command.payload);
        if (counters.take()) {
            const Port& port = ports.counters_write.payload;
            const u64 address = get(port, counters_address);
            finish_program();
            log(COUNTERS, {address, get(port, counters_clocks), get(port, counters_active)});
            written.push_back({is_error(address / LINE_BYTES), now + 1 + chance.below(setup.delay + 1)});
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
        if (!residents.empty()) throw Failure("a unit has a command while wavefronts run");
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
            ++programs, wavefronts = 0, running = true, has_error = false;
        }
        if (running && *ports.conditional_value != value && (!residents.empty() || *ports.wavefront.valid)) {
            throw Failure("the conditional value has changed while a program runs");
        }
        walked += *ports.walked;
        result.busy += !*ports.array_idle || *ports.wavefront.valid;
        if (test_request.take()) {
            tests.push_back({passed(ports.test_request.payload), now + 1 + chance.below(setup.delay + 1)});
        }
        if (*ports.test_response.valid && *ports.test_response.ready) tests.pop_front();
        if (wavefront.take()) take_wavefront();
    }

    void take_wavefront() {
        const Port& port = ports.wavefront.payload;
        if (!running) throw Failure("a wavefront without a program");
        log(WAVEFRONT, {get(port, wavefront_i), get(port, wavefront_j), get(port, wavefront_covered)});
        residents.push_back({wavefronts++, 2 + chance.below(setup.hold + 1), now});
    }

    // The program before this event is over: all of its domain must have been walked.
    void finish_program() {
        if (!running) return;
        if (!residents.empty() || !shown_idle) throw Failure("a program ends while its wavefronts run");
        log(WALKED, {walked});
        running = false, walked = 0;
    }
};

struct Processor {
    VerilatedContext context;
    Model model{&context};
};

}  // namespace

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

// The clock of a compiled core.
//
// In every cycle the inputs are driven, the core settles, its transfers are checked and taken, and the clock rises.
// clients.cc precedes this text.

namespace {

constexpr unsigned IDLE_CYCLES = 8;  // After the last wavefront: the run ends if `idle` is high in all of them.
constexpr unsigned FAULT_WORDS = 5;

enum Outcome : std::uint64_t { DONE, TIMEOUT, BROKEN };

struct RunResult {
    std::uint64_t outcome, cycles;
    std::array<std::uint64_t, 3> issued;
    std::uint64_t has_lost, lost_client, lost_address, faults;
    std::array<char, 512> message;
};

struct Core {
    VerilatedContext context;
    Vcore model{&context};
    std::vector<std::uint32_t> faults;                                    // FAULT_WORDS each
    std::array<std::vector<std::uint32_t>, std::size(Trace::EVENTS)> events;  // Two words of the cycle, then the event
};

// One run of a program on a core.
class Run {
public:
    Run(Core& core, const RunSetup& setup)
        : core(core), model(core.model), setup(setup),
          chance(setup.seed, std::uint32_t(setup.stall), std::uint32_t(setup.jitter)), clients(model, setup, chance) {}

    std::uint64_t cycle() const { return now - started; }
    const MemoryModel& memory_model() const { return clients.memory_model(); }

    // False if it did not end in time.
    bool run(std::array<std::uint64_t, 3>& issued) {
        clients.withdraw();
        wavefront.withdraw(model);
        do {
            if (now == setup.max_cycles) return false;
            step();
        } while (!idle);
        drive(Ports::program(model), program_bits());
        Ports::invalidate_code(model) = Ports::invalidate_constants(model) = 1;
        step();
        Ports::invalidate_code(model) = Ports::invalidate_constants(model) = 0;
        started = now, end = now, issuing = true;
        counts = {};
        for (unsigned drained = 0; drained < IDLE_CYCLES;) {
            if (cycle() >= setup.max_cycles) return false;
            step();
            drained = idle && taken_wavefronts == setup.wavefronts ? drained + 1 : 0;
            if (!drained) end = now;
        }
        if (clients.outstanding()) throw Violation("idle: it is high while responses are outstanding (" + state() + ")");
        clients.finish_writes();
        now = end;
        issued = counts;
        return true;
    }

    std::string state() const {
        return std::to_string(taken_wavefronts) + " of " + std::to_string(setup.wavefronts) + " wavefronts taken" + clients.state()
            + (idle ? ", idle is high" : ", idle is low");
    }

private:
    Core& core;
    Vcore& model;
    const RunSetup& setup;
    Chance chance;
    Clients clients;
    Response<Wavefront> wavefront;
    std::uint64_t now = 0, started = 0, end = 0, taken_wavefronts = 0;
    bool issuing = false, wavefront_offered = false, idle = false;
    std::array<std::uint64_t, 3> counts{};

    Payload<Program> program_bits() const {
        Payload<Program> words;
        std::copy_n(setup.program, words.size(), words.begin());
        return words;
    }

    void step() {
        clients.start(now);
        if (issuing && !wavefront_offered && taken_wavefronts < setup.wavefronts) offer_wavefront();
        wavefront.start(model, now, chance.withholds());
        model.eval();
        clients.settle();
        wavefront.settle(model);
        watch();
        model.clk = 1;
        model.eval();
        model.clk = 0;
        clients.finish();
        if (wavefront.finish(model)) ++taken_wavefronts, wavefront_offered = false;
        ++now;
    }

    void offer_wavefront() {
        Payload<Wavefront> next{};
        set(next, Wavefront::i, setup.wavefront_i[taken_wavefronts]);
        set(next, Wavefront::j, setup.wavefront_j[taken_wavefronts]);
        set(next, Wavefront::covered, setup.wavefront_covered[taken_wavefronts]);
        wavefront.put(now, next);
        wavefront_offered = true;
    }

    // Takes what is no stream: faults, issues, the trace.
    void watch() {
        idle = Ports::idle(model);
        if (Fault::valid(model)) {
            const auto bits = bits_of<Payload<Fault>>(Fault::payload(model));
            for (Field field : {Fault::status, Fault::client, Fault::pc, Fault::i, Fault::j}) {
                core.faults.push_back(get(bits, field));
            }
        }
        const unsigned issued = Ports::issued(model);
        for (unsigned type = 0; type < counts.size(); ++type) counts[type] += issued >> type & 1;
        if (setup.is_traced) watch_trace();
    }

    void watch_trace() {
        auto* bits = reinterpret_cast<const std::uint8_t*>(&Trace::payload(model));
        for (std::size_t kind = 0; kind < std::size(Trace::EVENTS); ++kind) {
            const Trace::Event& event = Trace::EVENTS[kind];
            if (bits[event.valid / 8] >> event.valid % 8 & 1) record(kind, event);
        }
    }

    void record(std::size_t kind, const Trace::Event& event) {
        const auto bits = bits_of<Payload<Trace>>(Trace::payload(model));
        std::vector<std::uint32_t>& events = core.events[kind];
        events.push_back(std::uint32_t(cycle()));
        events.push_back(std::uint32_t(cycle() >> WORD_BITS));
        for (unsigned bit = 0; bit < event.width; bit += WORD_BITS) {
            events.push_back(get(bits, {event.offset + bit, std::min(WORD_BITS, event.width - bit)}));
        }
    }
};

}  // namespace

// A core after a reset.
EXPORTED void* core_make() {
    auto* core = new Core;
    core->model.clk = 0;
    core->model.rst = 1;
    core->model.eval();
    core->model.clk = 1;
    core->model.eval();
    core->model.clk = 0;
    core->model.rst = 0;
    return core;
}

EXPORTED void core_free(void* core) { delete static_cast<Core*>(core); }

EXPORTED std::uint64_t setup_bytes() { return sizeof(RunSetup); }

// Runs a program. Faults and events are those of the last run. After any outcome but DONE the core must not be used.
EXPORTED void core_run(void* handle, const RunSetup* setup, RunResult* result) {
    Core& core = *static_cast<Core*>(handle);
    core.faults.clear();
    for (auto& events : core.events) events.clear();
    Run run(core, *setup);
    std::string message;
    *result = {};
    try {
        result->outcome = run.run(result->issued) ? DONE : TIMEOUT;
        message = run.state();
    } catch (const Violation& violation) {
        result->outcome = BROKEN;
        message = violation.what();
    }
    result->cycles = run.cycle();
    result->has_lost = run.memory_model().has_lost;
    result->lost_client = run.memory_model().lost_client;
    result->lost_address = run.memory_model().lost_address;
    result->faults = core.faults.size() / FAULT_WORDS;
    message.copy(result->message.data(), result->message.size() - 1);
}

EXPORTED const std::uint32_t* core_faults(void* core) { return static_cast<Core*>(core)->faults.data(); }

// The words of all events of a kind, and how many words there are.
EXPORTED const std::uint32_t* core_events(void* core, unsigned kind, std::uint64_t* words) {
    const auto& events = static_cast<Core*>(core)->events[kind];
    *words = events.size();
    return events.data();
}

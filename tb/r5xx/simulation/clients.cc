// The memory clients at a core's border.
//
// A read happens when its request is taken, the earliest time that the border allows. An uncached write happens when
// its response is offered, which is the latest. memory_model.cc and streams.cc precede this text.

namespace {

constexpr unsigned BANKS = 3;

struct RunSetup {
    MemorySetup memory;
    const std::uint32_t* code;  // [instructions][words]
    std::uint64_t instructions;
    std::array<const std::uint32_t*, BANKS> constants;        // [beats][words]
    std::array<const std::uint8_t*, BANKS> constant_error;  // [beats]
    std::array<std::uint64_t, BANKS> beats;
    const std::uint32_t* program;  // Bits of the port.
    const std::uint32_t *wavefront_i, *wavefront_j, *wavefront_covered;
    std::uint64_t wavefronts, latency, jitter, stall, seed, max_cycles, is_traced;
};

std::uint32_t lane_i(unsigned lane) { return 2 * (lane / QUAD) + (lane & 1); }
std::uint32_t lane_j(unsigned lane) { return lane >> 1 & 1; }

class Clients {
public:
    Clients(Vcore& model, const RunSetup& setup, Chance& chance)
        : model(model), setup(setup), chance(chance), memory(setup.memory) {}

    const MemoryModel& memory_model() const { return memory; }

    // Drives all streams for cycle `cycle`.
    void start(std::uint64_t cycle) {
        now = cycle;
        code_request.start(model, !chance.withholds());
        constants_request.start(model, !chance.withholds());
        fetches_request.start(model, !chance.withholds());
        uncached_write.start(model, !chance.withholds());
        tests_request.start(model, !chance.withholds());
        output.start(model, !chance.withholds());
        instructions.start(model, now, chance.withholds());
        constants.start(model, now, chance.withholds());
        fetches.start(model, now, chance.withholds());
        while (!pending_writes.empty() && pending_writes.begin()->first <= now) write_uncached();
        writes.start(model, now, chance.withholds());
        tests.start(model, now, chance.withholds());
    }

    // Takes the requests of the settled core. Responses that it takes are no longer offered after the clock's edge.
    void settle() {
        if (Payload<CodeRequest> request; code_request.take(model, request)) fetch_code(request);
        if (Payload<ConstantsRequest> request; constants_request.take(model, request)) fetch_constants(request);
        if (Payload<FetchesRequest> request; fetches_request.take(model, request)) fetch_elements(request);
        if (Payload<UncachedWrite> request; uncached_write.take(model, request)) accept_write(request);
        if (Payload<TestsRequest> request; tests_request.take(model, request)) test(request);
        if (Payload<Output> request; output.take(model, request)) store(request);
        instructions.settle(model), constants.settle(model), fetches.settle(model);
        writes.settle(model), tests.settle(model);
    }

    // After the clock's edge.
    void finish() {
        instructions.finish(model), constants.finish(model), fetches.finish(model);
        writes.finish(model), tests.finish(model);
    }

    // Makes all uncached writes for which the core does not wait.
    void finish_writes() {
        while (!pending_writes.empty()) write_uncached();
    }

    void withdraw() {
        instructions.withdraw(model), constants.withdraw(model), fetches.withdraw(model);
        writes.withdraw(model), tests.withdraw(model);
    }

    std::size_t outstanding() const {
        return instructions.size() + constants.size() + fetches.size() + acquiring_writes() + tests.size();
    }

    std::string state() const {
        const std::pair<const char*, std::size_t> clients[] = {
            {"instruction", instructions.size()}, {"constant", constants.size()}, {"fetch", fetches.size()},
            {"uncached write", acquiring_writes()}, {"test", tests.size()}};
        std::string text;
        for (const auto& [name, count] : clients) {
            if (count) text += ", " + std::to_string(count) + " " + name + " responses outstanding";
        }
        return text;
    }

private:
    Vcore& model;
    const RunSetup& setup;
    Chance& chance;
    MemoryModel memory;
    std::uint64_t now = 0;

    Request<CodeRequest> code_request;
    Request<ConstantsRequest> constants_request;
    Request<FetchesRequest> fetches_request;
    Request<UncachedWrite> uncached_write;
    Request<TestsRequest> tests_request;
    Request<Output> output;
    Response<CodeResponse> instructions;
    Response<ConstantsResponse> constants;
    Response<FetchesResponse> fetches;
    Response<UncachedDone> writes;
    Response<TestsResponse> tests;
    Order instruction_order, constant_order, test_order;
    std::array<Order, THREADS> fetch_orders, write_orders;
    std::multimap<std::uint64_t, Payload<UncachedWrite>> pending_writes;  // By the cycle in which they are made.

    std::uint64_t due() { return now + setup.latency + chance.delay(); }

    void fetch_code(const Payload<CodeRequest>& request) {
        const std::uint32_t number = get(request, CodeRequest::number);
        if (number >= setup.instructions) {
            throw Violation("code_request: instruction " + std::to_string(number) + " of a program of "
                            + std::to_string(setup.instructions) + " instructions");
        }
        Payload<CodeResponse> response{};
        for (unsigned word = 0; word < INSTRUCTION_WORDS; ++word) {
            set(response, CodeResponse::words, setup.code[number * INSTRUCTION_WORDS + word], word);
        }
        instructions.put(instruction_order.due(due()), response);
    }

    void fetch_constants(const Payload<ConstantsRequest>& request) {
        const unsigned bank = get(request, ConstantsRequest::bank), line = get(request, ConstantsRequest::line);
        if (bank >= BANKS || (line + 1) * LINE_BEATS > setup.beats[bank]) {
            throw Violation("constants_request: there is no line " + std::to_string(line) + " in bank "
                            + std::to_string(bank));
        }
        const std::uint64_t when = constant_order.due(due());
        for (unsigned beat = line * LINE_BEATS; beat < (line + 1) * LINE_BEATS; ++beat) {
            const bool error = setup.constant_error[bank][beat];
            Payload<ConstantsResponse> response{};
            set(response, ConstantsResponse::error, error);
            for (unsigned word = 0; word < BEAT_WORDS; ++word) {
                const std::uint32_t value = setup.constants[bank][beat * BEAT_WORDS + word];
                set(response, ConstantsResponse::words, error ? POISON : value, word);
            }
            constants.put(when, response);
        }
    }

    void fetch_elements(const Payload<FetchesRequest>& request) {
        const unsigned index = get(request, FetchesRequest::input), wave = get(request, FetchesRequest::tag_wave);
        const Buffer& buffer = memory.input(index);
        std::array<Element, AT_ONCE> elements;
        bool error = false;
        for (unsigned lane = 0; lane < AT_ONCE; ++lane) {
            elements[lane].fill(POISON);
            if (!(get(request, FetchesRequest::fetch) >> lane & 1)) continue;
            const std::uint32_t x = get(request, FetchesRequest::x, lane), y = get(request, FetchesRequest::y, lane);
            if (buffer.width && !buffer.has(x, y)) {
                throw Violation("fetches_request: lane " + std::to_string(lane) + " requests (" + std::to_string(x)
                                + ", " + std::to_string(y) + "), which input " + std::to_string(index)
                                + " does not have");
            }
            error |= memory.fetch(index, get(request, FetchesRequest::uncached), x, y, elements[lane]);
        }
        Payload<FetchesResponse> response{};
        set(response, FetchesResponse::tag_wave, wave);
        set(response, FetchesResponse::tag_entry, get(request, FetchesRequest::tag_entry));
        set(response, FetchesResponse::tag_beat, get(request, FetchesRequest::tag_beat));
        set(response, FetchesResponse::error, error);
        for (unsigned word = 0; word < AT_ONCE * CHANNELS; ++word) {
            set(response, FetchesResponse::words, error ? POISON : elements[word / CHANNELS][word % CHANNELS], word);
        }
        fetches.put(fetch_orders[wave].due(due()), response);
    }

    // Writes that the core waits for.
    std::size_t acquiring_writes() const {
        return writes.size() + std::count_if(pending_writes.begin(), pending_writes.end(), [](const auto& entry) {
                   return get(entry.second, UncachedWrite::acquires);
               });
    }

    void accept_write(const Payload<UncachedWrite>& request) {
        pending_writes.emplace(write_orders[get(request, UncachedWrite::wave)].due(due()), request);
    }

    // Makes the next uncached write, and responds if it acquires.
    void write_uncached() {
        const Payload<UncachedWrite> request = pending_writes.begin()->second;
        pending_writes.erase(pending_writes.begin());
        for (unsigned lane = 0; lane < AT_ONCE; ++lane) {
            if (!(get(request, UncachedWrite::mask) >> lane & 1)) continue;
            const Element element = {get(request, UncachedWrite::values, lane)};
            memory.store(0, get(request, UncachedWrite::x, lane), get(request, UncachedWrite::y, lane), element, 1);
        }
        if (!get(request, UncachedWrite::acquires)) return;
        Payload<UncachedDone> response{};
        set(response, UncachedDone::wave, get(request, UncachedWrite::wave));
        writes.put(now, response);
    }

    void test(const Payload<TestsRequest>& request) {
        const std::uint32_t i = get(request, TestsRequest::i), j = get(request, TestsRequest::j);
        std::uint32_t passed = 0;
        for (unsigned lane = 0; lane < LANES; ++lane) {
            if (!(get(request, TestsRequest::mask) >> lane & 1)) continue;
            const std::uint32_t value = get(request, TestsRequest::values, lane);
            passed |= std::uint32_t(memory.test(i + lane_i(lane), j + lane_j(lane), value)) << lane;
        }
        Payload<TestsResponse> response{};
        set(response, TestsResponse::passed, passed);
        tests.put(test_order.due(due()), response);
    }

    void store(const Payload<Output>& request) {
        const std::uint32_t i = get(request, Output::i), j = get(request, Output::j);
        for (unsigned lane = 0; lane < AT_ONCE; ++lane) {
            Element element;
            for (unsigned channel = 0; channel < CHANNELS; ++channel) {
                element[channel] = get(request, Output::words, lane * CHANNELS + channel);
            }
            memory.store(get(request, Output::target), i + lane_i(lane), j + lane_j(lane), element,
                         get(request, Output::mask, lane));
        }
    }
};

}  // namespace

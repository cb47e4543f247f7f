// Bursts at both memory ports, instead of a board's: random lengths, words and strobes. Each port has a half of memory
// of its own. Each read is compared with what was written.
//
// traffic.py concatenates the texts of pins.py up to ulx3s.cc, BEAT (the bytes of a beat), the structures machine_port
// and host_port, whose accessors are those of a subordinate's side, and this text.

#include <bit>
#include <unordered_map>

namespace {

template <typename Port>
class Traffic {
public:
    Traffic(std::uint64_t seed, std::uint32_t base) : random(seed), base(base) {}
    std::uint64_t bursts = 0;
    std::string mistake;

    // Sets the signals of an edge; `take` follows when the model has settled, before the edge.
    void drive(Model& model) {
        if (state == State::IDLE) begin();
        Port::arvalid(model) = state == State::READ && !addressed;
        Port::awvalid(model) = state == State::WRITE && !addressed;
        for (auto address : {&Port::araddr(model), &Port::awaddr(model)}) *address = base + first * BEAT;
        for (auto length : {&Port::arlen(model), &Port::awlen(model)}) *length = beats - 1;
        for (auto size : {&Port::arsize(model), &Port::awsize(model)}) *size = __builtin_ctz(BEAT);
        for (auto burst : {&Port::arburst(model), &Port::awburst(model)}) *burst = 1;
        offers |= state == State::WRITE && addressed && beat < beats && (random.next() & 3);
        Port::wvalid(model) = offers;
        Port::wlast(model) = beat == beats - 1;
        Port::wstrb(model) = strobe;
        std::memcpy(storage(Port::wdata(model)), word, BEAT);
        Port::rready(model) = state == State::READ && (random.next() & 3);
        Port::bready(model) = state == State::WRITE && beat == beats;
    }
    void take(Model& model) {
        addressed |= (Port::arvalid(model) && Port::arready(model)) || (Port::awvalid(model) && Port::awready(model));
        if (Port::wvalid(model) && Port::wready(model)) {
            for (unsigned byte = 0; byte < BEAT; ++byte)
                if (strobe >> byte & 1) memory[(first + beat) * BEAT + byte] = word[byte];
            ++beat;
            offers = false;
            fill();
        }
        if (Port::rvalid(model) && Port::rready(model)) {
            check(reinterpret_cast<const std::uint8_t*>(storage(Port::rdata(model))), Port::rresp(model));
            ++beat;
            if (bool(Port::rlast(model)) != (beat == beats)) mistake = "a last beat too soon, or none";
            if (beat == beats) end();
        }
        if (Port::bvalid(model) && Port::bready(model)) {
            if (Port::bresp(model)) mistake = "a write has an error response";
            end();
        }
    }

private:
    static constexpr unsigned NEAR = 1 << 10, ALL = 1 << 20, LONGEST = 16;
    enum class State { IDLE, READ, WRITE };
    Random random;
    std::uint32_t base;
    State state = State::IDLE;
    unsigned first = 0, beats = 1, beat = 0, strobe = 0;
    bool addressed = false, offers = false;
    std::uint8_t word[BEAT] = {};
    std::unordered_map<std::uint32_t, std::uint8_t> memory;

    void begin() {
        state = random.next() & 1 ? State::READ : State::WRITE;
        // Often the same rows again, at times any.
        first = random.next() % (random.next() % 4 ? NEAR : ALL - LONGEST);
        beats = 1 + random.next() % LONGEST;
        beats = std::min(beats, 256 - first % 256);
        beat = 0;
        addressed = false;
        fill();
    }
    void fill() {
        for (auto& byte : word) byte = random.next();
        strobe = random.next() & 3 ? random.next() & 0xFFFF : 0xFFFF;
    }
    void end() {
        state = State::IDLE;
        ++bursts;
    }
    void check(const std::uint8_t* found, unsigned response) {
        if (response) mistake = "a read has an error response";
        for (unsigned byte = 0; byte < BEAT; ++byte) {
            const auto known = memory.find((first + beat) * BEAT + byte);
            if (known != memory.end() && known->second != found[byte] && mistake.empty())
                mistake = "another byte than was written at " + std::to_string(base + known->first);
        }
    }
};

}  // namespace

// Bursts of both ports in so many cycles; how many. `mistake` is empty if there was none.
EXPORTED std::uint64_t board_traffic(void* handle, std::uint64_t cycles, std::uint64_t seed, char* mistake) {
    Board& board = *static_cast<Board*>(handle);
    Traffic<machine_port> machine(seed, 0);
    Traffic<host_port> host(seed + 1, 1 << 24);
    while (cycles-- && board.chip.violation.empty() && machine.mistake.empty() && host.mistake.empty()) {
        machine.drive(board.model);
        host.drive(board.model);
        board.settle();
        machine.take(board.model);
        host.take(board.model);
        board.clock();
    }
    std::strcpy(mistake, (machine.mistake + host.mistake).c_str());
    return machine.bursts + host.bursts;
}

// A chip alone, for tests of its rules.
EXPORTED void* chip_make() { return new Sdram(1); }
EXPORTED void chip_free(void* handle) { delete static_cast<Sdram*>(handle); }
EXPORTED const char* chip_violation(void* handle) { return static_cast<Sdram*>(handle)->violation.c_str(); }

// An edge with a command by the levels of RAS, CAS and WE; the levels of the data pins after it.
EXPORTED unsigned chip_clock(
    void* handle, std::uint64_t time, unsigned command, unsigned bank, unsigned address, unsigned mask, int data, bool cke
) {
    Sdram& chip = *static_cast<Sdram*>(handle);
    chip.clock({cke, false, bool(command & 4), bool(command & 2), bool(command & 1), bank, address, mask,
                std::uint16_t(data), data >= 0}, time);
    return chip.bus();
}

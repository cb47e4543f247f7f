// Clocks a whole board with one memory at both its memory ports, and is the other end of its serial line.
//
// simulated.py concatenates axi_memory.h, verilated.h, the class Model, the ports machine_port and host_port, PERIOD
// (the clock cycles of a bit), serial_end.h, and this text.

namespace {

// Noise of the line: at random times its level is inverted for up to two bits.
class Noise {
public:
    Noise(std::uint64_t seed, std::uint64_t often) : random(seed), often(often) {}
    bool operator()(bool level) {
        if (!remaining && often && (random.next() & 0xFFFFFFFF) < often) remaining = 1 + random.next() % (2 * PERIOD);
        return remaining ? (--remaining, !level) : level;
    }

private:
    Random random;
    std::uint64_t often;
    unsigned remaining = 0;
};

struct Board {
    MemorySetup setup;
    Model model;
    AxiMemory<machine_port> machine_memory{setup, setup.seed};
    AxiMemory<host_port> host_memory{setup, setup.seed + 1};
    Noise to_board, from_board;
    std::uint64_t now = 0;
    SerialEnd line;

    Board(const MemorySetup& given, std::uint64_t noise)
        : setup(given), to_board(given.seed + 2, noise), from_board(given.seed + 3, noise) {
        model.receive = 1;
        model.rst = 1;
        for (int cycle = 0; cycle < 4; ++cycle) clock();
        model.rst = 0;
    }

    void clock() {
        machine_memory.drive(model, now);
        host_memory.drive(model, now);
        model.receive = to_board(line.send());
        model.clk = 0;
        model.eval();
        if (!model.rst) {
            machine_memory.take(model, now);
            host_memory.take(model, now);
            line.receive(from_board(model.transmit));
        }
        model.clk = 1;
        model.eval();
        ++now;
    }
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void* board_make(const MemorySetup* setup, std::uint64_t noise) { return new Board(*setup, noise); }
EXPORTED void board_free(void* handle) { delete static_cast<Board*>(handle); }
EXPORTED std::uint64_t board_cycles(void* handle) { return static_cast<Board*>(handle)->now; }

// Sends bytes to the board, clocks it, and takes received bytes, at most `capacity`; how many.
EXPORTED std::uint64_t board_run(
    void* handle, std::uint64_t cycles, const std::uint8_t* sent, std::uint64_t count, std::uint8_t* received,
    std::uint64_t capacity
) {
    Board& board = *static_cast<Board*>(handle);
    board.line.sent.insert(board.line.sent.end(), sent, sent + count);
    while (cycles--) board.clock();
    std::uint64_t taken = 0;
    for (; taken < capacity && !board.line.received.empty(); ++taken) {
        received[taken] = board.line.received.front();
        board.line.received.pop_front();
    }
    return taken;
}

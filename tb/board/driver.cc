// Clocks the whole design of a board, with its memory chip at its pins, and is the other end of its serial line.
//
// pins.py concatenates before this text: axi_memory.h, verilated.h, the class Model, a function for each pin and for each
// role of one, PERIOD (clock cycles of a bit), HALF_PERIOD (ns of half a clock cycle), serial_end.h and sdram.h.

namespace {

struct Board {
    Model model;
    Sdram chip;
    SerialEnd line;
    std::uint64_t halves = 0;

    explicit Board(std::uint64_t seed) : chip(seed) {
        uart_0__rx__io(model) = 1;
        release_button(model);
        half(false);
    }

    void clock() {
        half(true);
        uart_0__rx__io(model) = line.send();
        half(false);
        line.receive(uart_0__tx__io(model));
    }
    void settle() { model.eval(); }

private:
    void half(bool level) {
        const bool was_high = sdram_0__clk__io(model);
        const SdramPins before = {
            is_enabled(model), bool(sdram_0__cs__io(model)), bool(sdram_0__ras__io(model)),
            bool(sdram_0__cas__io(model)), bool(sdram_0__we__io(model)), sdram_0__ba__io(model), sdram_0__a__io(model),
            sdram_0__dqm__io(model), sdram_0__dq__io__out(model), sdram_0__dq__io__en(model) != 0,
        };
        oscillator(model) = level;
        model.eval();
        if (!was_high && sdram_0__clk__io(model)) {
            chip.clock(before, halves * HALF_PERIOD);
            if (sdram_0__dq__io(model) != chip.bus()) {
                sdram_0__dq__io(model) = chip.bus();
                model.eval();
            }
        }
        ++halves;
    }
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void* board_make(std::uint64_t seed) { return new Board(seed); }
EXPORTED void board_free(void* handle) { delete static_cast<Board*>(handle); }
EXPORTED std::uint64_t board_cycles(void* handle) { return static_cast<Board*>(handle)->halves / 2; }
EXPORTED bool board_is_ready(void* handle) { return is_lit(static_cast<Board*>(handle)->model); }
EXPORTED const char* board_violation(void* handle) { return static_cast<Board*>(handle)->chip.violation.c_str(); }

// Reads, writes and refreshes of the chip.
EXPORTED void board_counts(void* handle, std::uint64_t* counts) {
    const Sdram& chip = static_cast<Board*>(handle)->chip;
    counts[0] = chip.reads;
    counts[1] = chip.writes;
    counts[2] = chip.refreshes;
}

// Sends bytes to the board, clocks it, and takes received bytes, at most `capacity`; how many.
EXPORTED std::uint64_t board_run(
    void* handle, std::uint64_t cycles, const std::uint8_t* sent, std::uint64_t count, std::uint8_t* received,
    std::uint64_t capacity
) {
    Board& board = *static_cast<Board*>(handle);
    board.line.sent.insert(board.line.sent.end(), sent, sent + count);
    while (cycles-- && board.chip.violation.empty()) board.clock();
    std::uint64_t taken = 0;
    for (; taken < capacity && !board.line.received.empty(); ++taken) {
        received[taken] = board.line.received.front();
        board.line.received.pop_front();
    }
    return taken;
}

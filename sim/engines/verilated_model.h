// The machine compiled by Verilator, with a register at each input.

struct Model : ModelContext, Vctm {
    Model() : Vctm(&context) { clk = 0; }

    // The inputs take effect at the rising edge. At the falling edge the gates of rtl/lib/clock_gating.py sample their
    // enables, and gated units their operands.
    void advance() {
        clk = 1;
        eval();
        clk = 0;
        eval();
    }

    // One thread clocks it.
    struct Helper {
        explicit Helper(Model&) {}
    };
};

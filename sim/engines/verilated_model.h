// The machine compiled by Verilator, with a register at each input. In front of this text stands the model's header.

struct ModelContext {
    VerilatedContext context;
};

struct Model : ModelContext, Vctm {
    Model() : Vctm(&context) { clk = 0; }

    // The inputs take effect at this edge.
    void advance() {
        clk = 1;
        eval();
        clk = 0;
        eval();
    }
};

// The bytes of a port.
template <typename Signal>
Signal* storage(Signal& signal) {
    return &signal;
}

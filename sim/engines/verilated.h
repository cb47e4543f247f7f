// What models compiled by Verilator have in common. Their headers precede this text.

struct ModelContext {
    VerilatedContext context;
};

// The bytes of a port.
template <typename Signal>
Signal* storage(Signal& signal) {
    return &signal;
}

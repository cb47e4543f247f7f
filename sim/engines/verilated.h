// What models compiled by Verilator have in common. In front of this text stand their headers.

struct ModelContext {
    VerilatedContext context;
};

// The bytes of a port.
template <typename Signal>
Signal* storage(Signal& signal) {
    return &signal;
}

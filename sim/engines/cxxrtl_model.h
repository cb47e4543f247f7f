// The machine compiled by CXXRTL. In front of this text stand the model's header and the list PORTS of the ports: names
// of the hardware with those of CXXRTL.

// A port as a number, and as its bytes.
template <typename Signal>
struct Pin {
    Signal& signal;

    operator std::uint32_t() const { return cxxrtl_design::current(signal).template get<std::uint32_t>(); }
    std::uint32_t operator=(std::uint32_t value) {
        signal.template set<std::uint32_t>(value);
        return value;
    }
};

template <std::size_t Bits>
std::uint32_t* storage(Pin<cxxrtl::value<Bits>>& pin) {
    return pin.signal.data;
}

template <std::size_t Bits>
std::uint32_t* storage(Pin<cxxrtl::wire<Bits>>& pin) {
    return pin.signal.curr.data;
}

struct Model : cxxrtl_design::p_ctm {
#define PIN(name, port) Pin<decltype(p_ctm::port)> name{port};
    PORTS(PIN)
#undef PIN

    // What is computed is for the end of a cycle too: its edge needs no second evaluation.
    void advance() {
        commit();
        eval();
    }

    // One thread clocks it.
    struct Helper {
        explicit Helper(Model&) {}
    };
};

// Observers of cores and memory ports that keep nothing.

struct CoreObserver {
    template <typename Model>
    void see(const Model&) {}
    void runs(std::uint32_t) {}
};

struct Traffic {
    void begin(std::uint64_t) {}
    template <typename Port, typename Model>
    void see(unsigned, Model&) {}
};

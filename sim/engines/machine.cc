// Clocks the whole machine with a memory at each of its ports, and is its host on the control port.
//
// model.py concatenates axi_memory.h, the files that define the classes Model and Traffic, a structure with the signals
// of each memory port, their list MEMORY_PORTS, and this text. A model's ports are members that behave as numbers. When
// the inputs of the next cycle have been set, advance() begins that cycle and computes its outputs. A second thread may
// help as long as an object of the class Helper lives. Traffic sees the beats of memory ports.

namespace {

constexpr unsigned CONTROL_TIMEOUT = 1000;

struct Machine {
    MemorySetup setup;
    Model model;
    std::uint64_t now = 0;
#define MEMBER(Port, number) AxiMemory<Port> Port##_memory{setup, setup.seed + number};
    MEMORY_PORTS(MEMBER)
#undef MEMBER

    Traffic traffic;

    explicit Machine(const MemorySetup& given) : setup(given) {
        model.rst = 1;
        for (int cycle = 0; cycle < 2; ++cycle) clock();
        model.rst = 0;
        model.s_axi_control_bready = 1;
        model.s_axi_control_rready = 1;
    }

    // One clock cycle. The caller has set the inputs that are not those of memory ports.
    void clock() {
#define DRIVE(Port, number) Port##_memory.drive(model, now);
        MEMORY_PORTS(DRIVE)
#undef DRIVE
        model.advance();
        traffic.begin(now);
#define SEE(Port, number) traffic.see<Port>(number, model);
        MEMORY_PORTS(SEE)
#undef SEE
#define TAKE(Port, number) Port##_memory.take(model, now);
        if (!model.rst) { MEMORY_PORTS(TAKE) }
#undef TAKE
        write_done |= model.s_axi_control_bvalid;
        if (model.s_axi_control_rvalid) {
            read_done = true;
            read_bits = model.s_axi_control_rdata;
        }
        write_address_taken = model.s_axi_control_awready;
        write_data_taken = model.s_axi_control_wready;
        read_address_taken = model.s_axi_control_arready;
        if (model.irq && !irq) raised = now;
        irq = model.irq;
        ++now;
    }

    bool write(std::uint32_t offset, std::uint32_t value) {
        write_done = false;
        model.s_axi_control_awaddr = offset;
        model.s_axi_control_wdata = value;
        model.s_axi_control_wstrb = 0xF;
        model.s_axi_control_awvalid = model.s_axi_control_wvalid = 1;
        for (unsigned cycle = 0; cycle < CONTROL_TIMEOUT; ++cycle) {
            clock();
            if (write_address_taken) model.s_axi_control_awvalid = 0;
            if (write_data_taken) model.s_axi_control_wvalid = 0;
            if (write_done) return true;
        }
        return false;
    }

    bool read(std::uint32_t offset, std::uint32_t& value) {
        read_done = false;
        model.s_axi_control_araddr = offset;
        model.s_axi_control_arvalid = 1;
        for (unsigned cycle = 0; cycle < CONTROL_TIMEOUT; ++cycle) {
            clock();
            if (read_address_taken) model.s_axi_control_arvalid = 0;
            if (read_done) {
                value = read_bits;
                return true;
            }
        }
        return false;
    }

    bool irq = false;
    std::uint64_t raised = 0;  // When the interrupt was raised last.

private:
    bool write_done = false, read_done = false;
    bool write_address_taken = false, write_data_taken = false, read_address_taken = false;
    std::uint32_t read_bits = 0;
};

Machine* machine(void* handle) { return static_cast<Machine*>(handle); }

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void* machine_make(const MemorySetup* setup) { return new Machine(*setup); }
EXPORTED void machine_free(void* handle) { delete machine(handle); }
EXPORTED std::uint64_t machine_cycles(void* handle) { return machine(handle)->now; }
EXPORTED std::uint64_t machine_raised(void* handle) { return machine(handle)->raised; }

// False if the machine does not respond, which no state of it allows.
EXPORTED bool machine_write(void* handle, std::uint32_t offset, std::uint32_t value) {
    return machine(handle)->write(offset, value);
}
EXPORTED bool machine_read(void* handle, std::uint32_t offset, std::uint32_t* value) {
    return machine(handle)->read(offset, *value);
}

// Clocks until the interrupt is raised, at most `cycles` cycles; whether it is.
EXPORTED bool machine_run(void* handle, std::uint64_t cycles) {
    Machine& own = *machine(handle);
    [[maybe_unused]] Model::Helper helper{own.model};
    while (cycles-- && !own.irq) own.clock();
    return own.irq;
}

// Ranges of memory that respond with errors from now on; they must live as long as the machine.
EXPORTED void machine_set_errors(void* handle, const ErrorRange* ranges, std::uint64_t count) {
    machine(handle)->setup.error_ranges = ranges;
    machine(handle)->setup.error_range_count = count;
}

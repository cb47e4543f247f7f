// The machine compiled by Verilator with all its names, see hardware.py, and what records it. writer.h and the list
// WAVES_CORES of the machine's cores precede this text.

// Which cycles are written; as Python gives it, every member has 8 bytes. Cycles are counted from the one in which the
// first command buffer is pushed. With `at` those are written, from `from` on, in which a wavefront with the pixel
// (i, j) is resident.
struct WavesWindow {
    const char* path;
    std::int64_t file;  // A file to which a VCD goes; less than 0 means the path, for FST.
    std::uint64_t from, cycles;
    std::uint64_t at, i, j;
};

struct WavesState {
    std::uint64_t begun, end;  // The first cycle that was written, and the one after the last; NEVER if there is none.
    std::uint64_t fault;       // The first cycle with a fault; NEVER if there is none.
    std::uint64_t problem;     // An errno.
};

constexpr std::uint64_t NEVER = ~std::uint64_t{0};

class Recorder {
public:
    WavesState state{NEVER, NEVER, NEVER, 0};

    ~Recorder() { close(); }

    // The next cycle is cycle 0.
    void start() {
        if (!is_counting_) cycle_ = 0;
        is_counting_ = true;
    }

    void open(const WavesWindow& window) {
        window_ = window;
        path_ = window.path;
        is_wanted_ = true;
    }

    // A cycle, when all its values are there.
    template <typename Model>
    void see(Model& model) {
        if (!is_counting_) return;
        if (model.fault && state.fault == NEVER) state.fault = cycle_;
        if (is_wanted_) {
            if (state.begun == NEVER && begins(model)) begin(model);
            if (state.begun != NEVER) write(model);
        }
        ++cycle_;
    }

    // Ends the file: what is written so far can be read.
    void close() {
        if (tracer_) {
            tracer_->close();
            state.problem = state.problem ? state.problem : writer_->problem();
            writer_.reset();
            tracer_.reset();
        }
        is_wanted_ = false;
    }

private:
    template <typename Model>
    bool begins(Model& model) {
        if (cycle_ < window_.from) return false;
        if (!window_.at) return true;
#define TAKES(core) \
    if (takes(core, model.core_##core##_take_valid, model.core_##core##_take_i, model.core_##core##_take_j, \
              model.core_##core##_take_covered, model.core_##core##_take_wave)) return true;
        WAVES_CORES(TAKES)
#undef TAKES
        return false;
    }

    // Whether a core takes the wavefront with the pixel: its lanes are quads side by side.
    bool takes(unsigned core, bool valid, std::uint64_t i, std::uint64_t j, std::uint64_t covered, unsigned wave) {
        const std::uint64_t column = window_.i - i, row = window_.j - j;
        const std::uint64_t lane = column / 2 * 4 + row * 2 + column % 2;
        if (!valid || row > 1 || lane > 63 || !(covered >> lane & 1)) return false;
        core_ = core;
        wave_ = wave;
        return true;
    }

    // In the cycle after it is taken a wavefront has its wave slot.
    template <typename Model>
    bool is_over(Model& model) {
        if (window_.cycles && cycle_ - state.begun >= window_.cycles) return true;
        if (!window_.at || cycle_ <= state.begun + 1) return false;
#define FREE(core) if (core_ == core) return model.core_##core##_free_wave_slots >> wave_ & 1;
        WAVES_CORES(FREE)
#undef FREE
        return false;
    }

    template <typename Model>
    void begin(Model& model) {
        state.begun = cycle_;
        if (window_.file < 0) waves::next_sink = std::make_unique<waves::FstSink>(path_);
        else waves::next_sink = std::make_unique<waves::VcdSink>(int(window_.file));
        tracer_ = std::make_unique<VerilatedFstC>();
        model.trace(tracer_.get(), 0);
        tracer_->open(path_.c_str());
        // Verilator's tracer does not delete a writer that it has closed.
        writer_.reset(std::exchange(fst::Writer::newest, nullptr));
    }

    template <typename Model>
    void write(Model& model) {
        if (is_over(model)) {
            close();
            return;
        }
        writer_->rise(cycle_);
        tracer_->dump(cycle_);
        writer_->fall(cycle_);
        state.end = cycle_ + 1;
        if ((state.problem = writer_->problem())) close();
    }

    WavesWindow window_{};
    std::string path_;
    std::unique_ptr<VerilatedFstC> tracer_;
    std::unique_ptr<fst::Writer> writer_;
    bool is_counting_ = false, is_wanted_ = false;
    std::uint64_t cycle_ = 0;
    unsigned core_ = 0, wave_ = 0;
};

struct Model : ModelContext, Vtop {
    Model() : Vtop(&context) {
        context.traceEverOn(true);
        clk = 0;
    }

    // As without waves; nothing happens when the clock falls, as no clock is gated.
    void advance() {
        clk = 1;
        eval();
        recorder.see(*this);
        clk = 0;
        eval();
    }

    // One thread clocks it.
    struct Helper {
        explicit Helper(Model&) {}
    };

    Recorder recorder;
};

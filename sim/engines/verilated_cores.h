// The machine compiled by Verilator in two models, see sim/compiled/uncore.py: Vctm, with a register at each input of
// the machine and without its cores, and Core of verilated_core.h, which precedes this text.

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif

struct ClaimedCore : Core {
    // The last cycle that a thread has claimed, to advance this core to it.
    std::atomic<std::uint64_t> claimed{0};
};

// Processors that this process may use.
unsigned processors() {
#ifdef __linux__
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
#endif
    return std::thread::hardware_concurrency();
}

// Whether a second thread makes cycles shorter: it does if a processor is free for it. From time to time a block of
// cycles is a trial of the other choice, and the choice that took less time is kept.
class Choice {
public:
    const bool is_possible = processors() > 1;

    // Called once in a cycle.
    bool with_helper() {
        if (!is_possible || ++cycles_ % BLOCK) return helps_;
        const auto now = Clock::now();
        took_[helps_] = now - then_;
        then_ = now;
        const bool was_trial = std::exchange(is_trial_, cycles_ % (BLOCK * BLOCKS_BETWEEN_TRIALS) == 0);
        if (was_trial) helps_ = took_[true] <= took_[false];
        if (is_trial_) helps_ = !helps_;
        return helps_;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr unsigned BLOCK = 128, BLOCKS_BETWEEN_TRIALS = 64;
    bool helps_ = is_possible, is_trial_ = false;
    std::uint64_t cycles_ = 0;
    Clock::time_point then_ = Clock::now();
    std::array<Clock::duration, 2> took_{};
};

class Model : ModelContext, public Vctm {
public:
    Model() : Vctm(&context) { clk = 0; }

    // As with one model: inputs take effect at the rising edge. At the falling edge, when the outputs of the cores are
    // valid, too, the gates of rtl/lib/clock_gating.py sample their enables.
    void advance() {
        clk = 1;
        eval();
        for (auto& core : cores_) own_ += advance(core, cycle_);
        // The helper may not have finished its last core.
        for (unsigned spins = 0; own_ + helped_.load(std::memory_order_acquire) != cycle_ * CORES;) wait(++spins);
        give_early(*this, cores_);
        for (auto& core : cores_) core.accept();
        take(*this, cores_);
        clk = 0;
        eval();
        give(*this, cores_);
        show(*this, cores_);
        ++cycle_;
        if (choice_.with_helper()) open(cycle_);
    }

    auto& cores() { return cores_; }

    // A second thread, as long as this lives: it advances cores from the last one on, the first thread from the first.
    class Helper {
    public:
        explicit Helper(Model& model) : model_(model) {
            if (model.choice_.is_possible) thread_ = std::thread([&model] { model.help(); });
        }
        ~Helper() {
            if (!thread_.joinable()) return;
            model_.open(END);
            thread_.join();
            model_.opened_ = 0;
        }

    private:
        Model& model_;
        std::thread thread_;
    };

private:
    static constexpr std::uint64_t END = ~std::uint64_t{0};
    static constexpr unsigned SPINS = 4096;

    // Advances a core, unless another thread has claimed it; whether it did.
    static bool advance(ClaimedCore& core, std::uint64_t cycle) {
        std::uint64_t before = cycle - 1;
        if (!core.claimed.compare_exchange_strong(before, cycle, std::memory_order_acq_rel)) return false;
        core.advance();
        return true;
    }

    static void wait(unsigned spins) {
        if (spins > SPINS) std::this_thread::yield();
#ifdef __x86_64__
        else __builtin_ia32_pause();
#endif
    }

    void open(std::uint64_t cycle) {
        opened_.store(cycle, std::memory_order_release);
        opened_.notify_one();
    }

    void help() {
        for (std::uint64_t done = 0;;) {
            for (unsigned spins = 0; opened_.load(std::memory_order_acquire) == done && spins < SPINS;) wait(++spins);
            opened_.wait(done, std::memory_order_acquire);
            done = opened_.load(std::memory_order_acquire);
            if (done == END) return;
            for (auto core = cores_.rbegin(); core != cores_.rend() && advance(*core, done); ++core) {
                helped_.fetch_add(1, std::memory_order_release);
            }
        }
    }

    std::array<ClaimedCore, CORES> cores_;
    Choice choice_;
    std::uint64_t cycle_ = 1, own_ = 0;  // The cycle that cores are advanced to; advances by this thread so far.
    alignas(64) std::atomic<std::uint64_t> opened_{0};
    alignas(64) std::atomic<std::uint64_t> helped_{0};
};

// The machine in the two models of sim/compiled/uncore.py, clocked by one thread that writes down what its cores show.
//
// In front of this text stand the models, `CORES`, the class Core, and `EVENTS`: of each kind of event where it lies in
// `shown`.

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

using Words = std::vector<std::uint32_t>;

struct ShownCore : Core {
    // Bits [first, first + width) of what it shows.
    void append_to(Words& target, unsigned first, unsigned width) {
        for (unsigned done = 0; done < width; done += 32) {
            const unsigned at = first + done, word = at / 32, shift = at % 32;
            std::uint64_t both = shown[word];
            if (shift && (word + 1) * 32 < SHOWN) both |= std::uint64_t(shown[word + 1]) << 32;
            const unsigned taken = width - done < 32 ? width - done : 32;
            target.push_back(std::uint32_t(both >> shift & ((std::uint64_t(1) << taken) - 1)));
        }
    }
};

struct Model : ModelContext, Vctm {
    std::array<Words, EVENTS.size()> events;  // Of each the cycle in two words, the core, then its bits.

    Model() : Vctm(&context) { clk = 0; }

    void advance() {
        clk = 1;
        eval();
        for (unsigned number = 0; number < CORES; ++number) {
            ShownCore& core = cores_[number];
            core.settle();
            note(core, number);
            core.clk = 1;
            core.eval();
        }
        give_early(*this, cores_);
        for (auto& core : cores_) core.accept();
        take(*this, cores_);
        clk = 0;
        eval();
        give(*this, cores_);
        ++cycle_;
    }

    struct Helper {
        explicit Helper(Model&) {}
    };

private:
    std::array<ShownCore, CORES> cores_;
    std::uint64_t cycle_ = 0;

    void note(ShownCore& core, std::uint32_t number) {
        for (std::size_t kind = 0; kind < EVENTS.size(); ++kind) {
            const Event& event = EVENTS[kind];
            if (!(core.shown[event.valid / 32] >> event.valid % 32 & 1)) continue;
            events[kind].insert(events[kind].end(), {std::uint32_t(cycle_), std::uint32_t(cycle_ >> 32), number});
            core.append_to(events[kind], event.offset, event.width);
        }
    }
};

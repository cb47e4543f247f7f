// The machine in the two models of sim/compiled/uncore.py, clocked by one thread that keeps the events of its cores.
//
// engine.py concatenates the models, with `CORES`, the offsets of events and fields in the port `shown`, the class
// Core, and this text. `EVENTS` has the offsets of each kind of event; `BEGIN_I` and so on are those of the fields that
// tell wavefronts apart.

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

using Words = std::vector<std::uint32_t>;

struct ShownCore : Core {
    // Bits [first, first + width), at most 32.
    std::uint32_t bits(unsigned first, unsigned width) const {
        const unsigned word = first / 32, shift = first % 32;
        std::uint64_t both = shown[word];
        if (shift && (word + 1) * 32 < SHOWN) both |= std::uint64_t(shown[word + 1]) << 32;
        return std::uint32_t(both >> shift & ((std::uint64_t(1) << width) - 1));
    }
    std::uint32_t bits(const Field& field) const { return bits(field.offset, field.width); }

    void append_to(Words& target, unsigned first, unsigned width) const {
        for (unsigned done = 0; done < width; done += 32) {
            target.push_back(bits(first + done, width - done < 32 ? width - done : 32));
        }
    }
};

// Which events are kept: all, or those of a core from the cycle in which a wavefront begins to that in which it ends.
struct Wanted {
    bool one = false;
    std::uint32_t i = 0, j = 0, before = 0, stage = 0;
    bool is_resident = false, is_over = false;
    std::uint32_t core = 0, wave = 0;

    // BEGIN_STAGE has no bits where the machine does not draw.
    bool is_wanted(const ShownCore& shown) const {
        return shown.bits(BEGIN_I) == i && shown.bits(BEGIN_J) == j && shown.bits(BEGIN_STAGE) == stage;
    }

    bool keeps(const ShownCore& shown, std::uint32_t number, std::size_t kind) {
        if (!one) return true;
        if (is_over) return false;
        if (!is_resident && kind == BEGIN && is_wanted(shown) && before-- == 0) {
            is_resident = true;
            core = number;
            wave = shown.bits(BEGIN_SLOT);
        }
        if (!is_resident || number != core) return false;
        is_over = kind == END && shown.bits(END_SLOT) == wave;
        is_resident = !is_over;
        return true;
    }
};

struct Model : ModelContext, Vctm {
    std::array<Words, EVENTS.size()> events;  // Of each the cycle in two words, the core, then its bits.
    Wanted wanted;

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
            if (!wanted.keeps(core, number, kind)) continue;
            events[kind].insert(events[kind].end(), {std::uint32_t(cycle_), std::uint32_t(cycle_ >> 32), number});
            core.append_to(events[kind], event.offset, event.width);
        }
    }
};

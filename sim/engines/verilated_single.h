// A machine of one core, compiled by Verilator in two models, see sim/compiled/uncore.py: Vctm, with a register at each
// input of the machine and without its core, and Core of verilated_core.h, which precedes this text.

#include <array>

class Model : ModelContext, public Vctm {
public:
    Model() : Vctm(&context) { clk = 0; }

    // As with one model: inputs take effect at the rising edge. At the falling edge, when the outputs of the core are
    // valid, too, the gates of rtl/lib/clock_gating.py sample their enables.
    void advance() {
        clk = 1;
        eval();
        cores_[0].advance();
        give_early(*this, cores_);
        cores_[0].accept();
        take(*this, cores_);
        clk = 0;
        eval();
        give(*this, cores_);
        show(*this, cores_);
    }

    auto& cores() { return cores_; }

    // One thread clocks it.
    struct Helper {
        explicit Helper(Model&) {}
    };

private:
    std::array<Core, CORES> cores_;
};

// A core as a model of its own, see sim/compiled/uncore.py. In front of this text stands its CoreObserver.

class Core : ModelContext, public Vctm_core {
public:
    Core() : Vctm_core(&context) {
        clk = given_clk = 0;
        rst = 1;
    }

    // The end of a cycle, whose inputs are given, and the beginning of the next, whose outputs follow from that.
    void advance() {
        settle();
        observer.see(*this);
        clk = 1;
        eval();
    }

    // The end of a cycle alone.
    void settle() {
        accept();
        clk = 0;
        eval();
    }

    // Inputs that are something else take effect.
    void accept() {
        if (!is_given) return;
        given_clk = 1;
        eval();
        given_clk = 0;
        is_given = false;
    }

    bool is_given = false;
    CoreObserver observer;
};

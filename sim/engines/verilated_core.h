// A core as a model of its own, see sim/compiled/uncore.py. verilated.h and a file with the class CoreObserver, such as
// unwatched.h, precede this text.

class Core : ModelContext, public Vctm_core {
public:
    Core() : Vctm_core(&context) {
        clk = given_clk = 0;
        rst = 1;
    }

    // Ends a cycle, whose inputs are set, and begins the next one, which sets the outputs.
    void advance() {
        settle();
        observer.see(*this);
        clk = 1;
        eval();
    }

    // Ends a cycle.
    void settle() {
        accept();
        clk = 0;
        eval();
    }

    // Lets inputs take effect, if any has changed.
    void accept() {
        if (!is_given) return;
        given_clk = 1;
        eval();
        given_clk = 0;
        is_given = false;
    }

    bool is_given = false;  // Whether an input has changed since `accept`.
    CoreObserver observer;
};

// Clocks the model of a component that takes one operand set and gives one result in each cycle.
//
// `unit.py` generates the bodies of load_inputs and store_outputs: a copy for each port, between the port and element
// `index` of its array. A port's C++ type is the smallest of 8, 16, 32 or 64 bits that holds it, else an array of
// 32-bit words, the lowest first.

#include <cstddef>
#include <cstring>
#include <memory>

#include "verilated.h"
#include "Vunit.h"

namespace {

struct Unit {
    VerilatedContext context;
    Vunit model{&context};
};

template <typename Port>
void load(Port& port, const void* array, std::size_t index) {
    std::memcpy(static_cast<void*>(&port), static_cast<const char*>(array) + index * sizeof(Port), sizeof(Port));
}

template <typename Port>
void store(const Port& port, void* array, std::size_t index) {
    std::memcpy(static_cast<char*>(array) + index * sizeof(Port), static_cast<const void*>(&port), sizeof(Port));
}

void load_inputs(Vunit& model, const void* const* inputs, std::size_t index) {
    // @LOAD@
}

void store_outputs(const Vunit& model, void* const* outputs, std::size_t index) {
    // @STORE@
}

void clock(Vunit& model) {
    model.clk = 1;
    model.eval();
    model.clk = 0;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// A unit after a reset.
EXPORTED void* unit_make() {
    auto* unit = new Unit;
    unit->model.clk = 0;
    unit->model.rst = 1;
    unit->model.eval();
    clock(unit->model);
    unit->model.rst = 0;
    return unit;
}

EXPORTED void unit_free(void* unit) { delete static_cast<Unit*>(unit); }

// Runs `cycles` cycles. The first `taken` take an operand set each; after them the inputs do not change. The
// results of the first `dropped` are not stored; those of the later ones are, from element 0 on.
EXPORTED void unit_run(void* unit, const void* const* inputs, void* const* outputs, std::size_t cycles,
                       std::size_t taken, std::size_t dropped) {
    Vunit& model = static_cast<Unit*>(unit)->model;
    for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
        if (cycle < taken) load_inputs(model, inputs, cycle);
        model.eval();
        if (cycle >= dropped) store_outputs(model, outputs, cycle - dropped);
        clock(model);
    }
}

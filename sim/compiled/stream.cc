// Streams rows of operands through a unit that takes one in every cycle and gives its results LATENCY cycles later.
// Ports are rows of 32-bit words, the least significant first. PORTS are generated from the unit's signature.
#include "Vmodel.h"
#include "verilated.h"

#include <algorithm>
#include <cstdint>

namespace {

struct Model {
    VerilatedContext context;
    Vmodel top{&context};
};

struct Port {
    uint32_t *words;
    uint64_t stride;  // 0 repeats one row

    uint32_t *row(uint64_t index) const { return words + index * stride; }
};

uint64_t pair(const uint32_t *row) { return row[0] | static_cast<uint64_t>(row[1]) << 32; }

void unpair(uint64_t value, uint32_t *row) {
    row[0] = static_cast<uint32_t>(value);
    row[1] = static_cast<uint32_t>(value >> 32);
}

void drive(Vmodel &top, const Port *inputs, uint64_t index) {
@INPUTS@}

void sample(const Vmodel &top, const Port *outputs, uint64_t index) {
@OUTPUTS@}

void edge(Vmodel &top) {
@EDGE@}

}  // namespace

extern "C" {

void *create() {
    Model *model = new Model;
    @RESET@
    return model;
}

void destroy(void *model) { delete static_cast<Model *>(model); }

void stream(void *handle, uint64_t rows, uint64_t latency, const Port *inputs, const Port *outputs) {
    Vmodel &top = static_cast<Model *>(handle)->top;
    for (uint64_t cycle = 0; cycle < rows + latency; ++cycle) {
        drive(top, inputs, std::min(cycle, rows - 1));
        top.eval();
        if (cycle >= latency) sample(top, outputs, cycle - latency);
        edge(top);
    }
}

}

"""Designs compiled through CXXRTL do what Amaranth's simulator does; what that rests on: merging, opening, dividing."""

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from ctm.sim.compiled import ToolchainError, cxxrtl
from ctm.sim.compiled.rewriting.divided import UnexpectedTextError, divide
from ctm.sim.compiled.rewriting.loops import LoopThroughModuleError, open_loops
from ctm.sim.compiled.rewriting.repeated import KEPT, merge
from ctm.sim.compiled.verilog import convert_to_rtlil

_CYCLES = 300
_INPUTS = {"value": 32, "address": 3, "enable": 1}
_OUTPUTS = {"ripple": 33, "total": 32, "row": 40, "echoed": 16, "mixed": 32}
_HOST = """
#define EXPORTED extern "C" __attribute__((visibility("default")))
using Top = cxxrtl_design::p_top;
EXPORTED void* make() { return new Top; }
EXPORTED void cycle(void* handle, const std::uint64_t* inputs, std::uint64_t* outputs) {
    Top& top = *static_cast<Top*>(handle);
    top.commit();
    INPUTS
    top.eval();
    OUTPUTS
}
"""


class Stage(wiring.Component):
    """Arithmetic that is enough to stay a module; `mixed` follows `value` at once, `total` a cycle later."""

    value: In(32)
    mixed: Out(32)
    total: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = self.value
        for number in range(16):
            following = Signal(32)
            m.d.comb += following.eq(Mux(word[number], word + (number * 0x9E3779B9 & 0xFFFF_FFFF), word ^ word << 3))
            word = following
        m.d.comb += self.mixed.eq(word)
        m.d.sync += self.total.eq(self.total + word)
        return m


class Echo(wiring.Component):
    """Two ways through one module, neither of which meets the other."""

    there: In(16)
    back: In(16)
    there_out: Out(16)
    back_out: Out(16)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for given, result in ((self.there, self.there_out), (self.back, self.back_out)):
            word = given
            for number in range(12):
                following = Signal(16)
                m.d.comb += following.eq(Mux(word[0], word + number * 7, word ^ 0x55 << number))
                word = following
            m.d.comb += result.eq(word)
        return m


class Design(wiring.Component):
    """Everything that CXXRTL would have to evaluate several times, and a memory."""

    def __init__(self) -> None:
        super().__init__({name: In(width) for name, width in _INPUTS.items()} | {
            name: Out(width) for name, width in _OUTPUTS.items()
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.first, m.submodules.second = first, second = Stage(), Stage()
        m.d.comb += [first.value.eq(self.value), second.value.eq(first.mixed), self.mixed.eq(second.mixed)]
        m.d.comb += self.total.eq(first.total ^ second.total)
        # A word whose bits follow from each other.
        m.d.comb += self.ripple[0].eq(self.enable)
        for index in range(32):
            m.d.comb += self.ripple[index + 1].eq(Mux(self.value[index], self.ripple[index], ~self.ripple[index]))
        # What a module gives comes back to it.
        m.submodules.left, m.submodules.right = left, right = Echo(), Echo()
        m.d.comb += [left.there.eq(self.value), right.there.eq(left.there_out), left.back.eq(right.there_out)]
        m.d.comb += [right.back.eq(left.back_out), self.echoed.eq(right.back_out)]
        m.submodules.memory = memory = Memory(shape=40, depth=8, init=[3, 1, 4])
        writer, reader = memory.write_port(), memory.read_port()
        m.d.comb += [writer.addr.eq(self.address), writer.data.eq(self.ripple * 5), writer.en.eq(self.enable)]
        m.d.comb += [reader.addr.eq(self.value), self.row.eq(reader.data), reader.en.eq(~self.enable | self.value[9])]
        return m


def simulated(inputs: list[dict[str, int]]) -> list[list[int]]:
    """What Amaranth's simulator gives in each cycle."""
    design: Any = Design()
    found: list[list[int]] = []

    async def testbench(context: Any) -> None:
        for given in inputs:
            for name, value in given.items():
                context.set(getattr(design, name), value)
            found.append([context.get(getattr(design, name)) for name in _OUTPUTS])
            await context.tick()

    simulator = Simulator(design)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
    return found


def compiled(library: Path, inputs: list[dict[str, int]]) -> list[list[int]]:
    """What the compiled design gives."""
    model = ctypes.CDLL(str(library))
    model.make.restype = ctypes.c_void_p
    model.cycle.argtypes = [ctypes.c_void_p] * 3
    handle = model.make()
    given, outputs = (np.zeros(len(names), np.uint64) for names in (_INPUTS, _OUTPUTS))
    found = []
    for values in inputs:
        given[:] = list(values.values())
        model.cycle(handle, given.ctypes.data, outputs.ctypes.data)
        found.append([int(value) for value in outputs])
    return found


def host() -> str:
    sets = (f"top.p_{name}.set<std::uint64_t>(inputs[{index}]);" for index, name in enumerate(_INPUTS))
    gets = (
        f"outputs[{index}] = cxxrtl_design::current(top.p_{name}).get<std::uint64_t>();"
        for index, name in enumerate(_OUTPUTS)
    )
    return _HOST.replace("INPUTS", " ".join(sets)).replace("OUTPUTS", " ".join(gets))


@pytest.mark.parametrize("compiler", ["", "g++"], ids=["the usual compiler", "g++"])
def test_a_compiled_design_does_what_amaranth_simulates(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", compiler)
    rng = np.random.default_rng(1)
    inputs = [{name: int(rng.integers(1 << width)) for name, width in _INPUTS.items()} for _ in range(_CYCLES)]
    text = convert_to_rtlil(Design(), top="top")
    library = cxxrtl.build(lambda: text, host(), top="top", key=text)
    assert compiled(library, inputs) == simulated(inputs)

    def not_again() -> str:
        raise AssertionError("the cache has it")

    assert cxxrtl.build(not_again, host(), top="top", key=text) == library


def test_modules_that_are_the_same_are_written_once_and_large_ones_kept() -> None:
    text = convert_to_rtlil(Design(), top="top")
    names = re.findall(r"^module (\S+)$", text, re.MULTILINE)
    merged = merge(text, "top")
    assert len(names) == 5
    assert sorted(re.findall(r"^module (\S+)$", merged, re.MULTILINE)) == [r"\top", r"\top.first", r"\top.left"]
    assert merged.count(KEPT) == 2


def module(*items: str) -> str:
    """RTLIL of a module with wires a and b of two bits."""
    return "".join(f"{line}\n" for line in (r"module \top", r"  wire width 2 \a", r"  wire width 2 \b", *items, "end"))


def cell(kind: str, name: str, **signals: str) -> str:
    lines = [f"  cell {kind} {name}", *(rf"    connect \{port} {signal}" for port, signal in signals.items()), "  end"]
    return "\n".join(lines)


def test_a_design_without_loops_stays_as_it_is() -> None:
    text = module(cell("$not", "$1", A=r"\a", Y=r"\b"))
    assert open_loops(text) == text


def test_words_and_cells_in_loops_are_taken_apart() -> None:
    opened = open_loops(module(cell("$not", "$1", A=r"{ \a [0] 1'1 }", Y=r"\b"), r"  connect \a \b"))
    assert opened.count("cell $not") == 2
    assert not re.search(r"\\[ab](?!#)", opened)


def test_a_loop_of_the_hardware_is_refused() -> None:
    with pytest.raises(ToolchainError, match="combinational loop"):
        open_loops(module(cell("$not", "$1", A=r"\a [0]", Y=r"\a [0]")))


def test_a_loop_through_a_module_names_the_module() -> None:
    inner = "module \\inner\n  wire input 1 \\x\n  wire output 2 \\y\nend\n"
    with pytest.raises(LoopThroughModuleError) as caught:
        open_loops(inner + module(cell(r"\inner", r"\c", x=r"\a [0]", y=r"\a [0]")))
    assert caught.value.modules == {r"\inner"}


def test_other_text_is_not_divided() -> None:
    with pytest.raises(UnexpectedTextError):
        divide("int main() {}\n")

"""Registers at the ports of a machine that is placed, which two pins shift in and fold out."""

from collections.abc import Mapping

from amaranth import Cat, ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.synthesis.enclosure import ENCLOSURE, OPERAND, RESULT

MACHINE = "machine"
"""The name of the machine in it."""
_FOLDED = 4
"""Bits that one XOR folds in a cycle."""


class Border(wiring.Component):
    """Module `top` between registers: an FPGA has too few pins, and paths to pins would count.

    Inputs are shifted in from one pin, outputs are folded by XOR into another one, a register after each four bits.
    `ports` are the module's: width, and whether it is an input; `clk` and `rst` are clock and reset.
    """

    pin_in: Signal
    pin_out: Signal

    def __init__(self, top: str, ports: Mapping[str, tuple[int, bool]]) -> None:
        self._top, self._ports = top, ports
        super().__init__({"pin_in": In(1), "pin_out": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        inputs: list[Signal] = []
        outputs: list[Signal] = []
        connections: dict[str, object] = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
        for name, (width, is_input) in self._ports.items():
            if f"i_{name}" in connections:
                continue
            kind, held = (OPERAND, inputs) if is_input else (RESULT, outputs)
            register = Signal(width, name=kind + name, reset_less=True, attrs={ENCLOSURE: 1, "keep": 1})
            held.append(register)
            if is_input:
                connections[f"i_{name}"] = register
            else:
                driven = Signal(width, name=name)
                connections[f"o_{name}"] = driven
                m.d.sync += register.eq(driven)
        m.submodules[MACHINE] = Instance(self._top, **connections)
        chain = Cat(inputs)
        m.d.sync += chain.eq(Cat(self.pin_in, chain[:-1]))
        bits = list(Cat(outputs))
        while len(bits) > 1:
            fields = [Cat(bits[first : first + _FOLDED]) for first in range(0, len(bits), _FOLDED)]
            bits = [Signal(name=f"folded_{len(bits)}_{number}", reset_less=True) for number in range(len(fields))]
            m.d.sync += [bit.eq(field.xor()) for bit, field in zip(bits, fields, strict=True)]
        m.d.comb += self.pin_out.eq(Cat(bits).xor())
        return m

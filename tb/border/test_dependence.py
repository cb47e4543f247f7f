"""What follows from what in the same cycle, of components that have every kind of statement and value."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from amaranth import Array, Cat, Instance, Module, Mux, ResetInserter, Signal, signed
from amaranth.hdl import Fragment
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from ctm.rtl.border.commands import COMMAND_BUFFER
from ctm.rtl.border.lines import LINE_REQUEST, LineClient
from ctm.rtl.border.programs import CoreCredit, wavefront_layout
from ctm.rtl.config import DEFAULT
from ctm.rtl.dpp.wavefronts.scheduling import IssuePort
from ctm.rtl.r5xx.shapes import SHAPES
from ctm.tb.border.dependence import Dependence
from ctm.tb.border.units import Pair, border_ports, pairs_of

A, B, S, N = (Signal(shape, name=name) for name, shape in (("a", 5), ("b", 5), ("s", signed(4)), ("n", 3)))
INPUTS = (A, B, S, N)
RESULT_BITS = 12
VALUES: dict[str, Callable[[], Any]] = {
    "bitwise": lambda: A & ~B | S ^ N,
    "sum": lambda: A + B,
    "difference": lambda: S - A,
    "negative": lambda: -A,
    "product": lambda: A * S,
    "quotient": lambda: A // B,
    "remainder": lambda: A % B,
    "compared": lambda: Cat(A == B, A < B, S >= N),
    "reduced": lambda: Cat(A.any(), B.all(), S.xor(), N.bool()),
    "left": lambda: A << N,
    "right": lambda: S >> N,
    "bit": lambda: Cat(A, B).bit_select(N, 2),
    "word": lambda: Cat(A, B).word_select(N, 3),
    "chosen": lambda: Mux(N[0], A, S),
    "element": lambda: Array([A, B, S])[N],
    "matched": lambda: A.matches("1-0--"),
    "signs": lambda: Cat(A.as_signed() + 1, S.as_unsigned() + 1),
    "slice": lambda: Cat(A[3:], B[:2]).replicate(2),
}


def decided(m: Module, result: Signal) -> None:
    """Assignments under conditions, to slices and to elements."""
    words = [Signal(3, name=f"word_{number}") for number in range(3)]
    m.d.comb += Cat(words).eq(0b101010101)
    with m.If(A == 3):
        m.d.comb += Array(words)[N].eq(B)
    with m.Elif(B[0]):
        m.d.comb += Cat(words).bit_select(N, 2).eq(S)
    with m.Else():
        m.d.comb += Cat(words).word_select(N[:2], 3).eq(A)
    with m.Switch(S):
        with m.Case(1, -2):
            m.d.comb += words[1][1:].eq(N)
        with m.Default():
            m.d.comb += words[2].as_signed().eq(S)
    with m.If(A[4]):
        m.d.comb += Cat(words[0].bit_select(N, 1), words[1]).eq(B)
    m.d.comb += result.eq(Cat(words))


def looked_up(m: Module, result: Signal) -> None:
    """A memory that is read in the same cycle."""
    m.submodules.rows = rows = Memory(shape=RESULT_BITS, depth=8, init=[911 * row % 4096 for row in range(8)])
    port = rows.read_port(domain="comb")
    m.d.comb += [port.addr.eq(N), result.eq(port.data)]


def module(name: str) -> tuple[Module, Signal]:
    m, result = Module(), Signal(RESULT_BITS, name="result")
    special = {"decided": decided, "looked_up": looked_up}.get(name)
    if special is None:
        m.d.comb += result.eq(VALUES[name]())
    else:
        special(m, result)
    return m, result


def reached(m: Any, result: Signal, inputs: tuple[Signal, ...] = INPUTS) -> list[set[str]]:
    """For each bit of a result the input bits that it follows from, as a0, a1, ..."""
    fragment = Fragment.get(m, None)
    dependence = Dependence(fragment)
    names = [f"{signal.name}{number}" for signal in inputs for number in range(len(signal))]
    bits = [bit for signal in inputs for bit in dependence.bits(signal)]
    masks = {bit: 1 << number for number, bit in enumerate(bits)}
    outputs = dependence.bits(result)
    found = dependence.reached(outputs, masks, dependence.numbers[id(fragment)])
    return [{name for number, name in enumerate(names) if found[bit] >> number & 1} for bit in outputs]


NAMES = [f"{signal.name}{number}" for signal in INPUTS for number in range(len(signal))]


def changing(m: Module, result: Signal) -> list[set[str]]:
    """For each bit of a result, input bits with which it was seen to change."""
    changed: list[set[str]] = [set() for _ in range(RESULT_BITS)]
    given = random.Random(1)

    async def look(context: Any) -> None:
        for _ in range(60):
            word, before = given.getrandbits(len(NAMES)), None
            for flipped in (0, *(1 << number for number in range(len(NAMES)))):
                remaining = word ^ flipped
                for signal in INPUTS:
                    context.set(signal, remaining & (1 << len(signal)) - 1)
                    remaining >>= len(signal)
                after = context.get(result)
                before = after if before is None else before
                for bit, seen in enumerate(changed):
                    if (after ^ before) >> bit & 1:
                        seen.add(NAMES[flipped.bit_length() - 1])

    simulator = Simulator(m)
    simulator.add_testbench(look)
    simulator.run()
    return changed


@pytest.mark.parametrize("name", [*VALUES, "decided", "looked_up"])
def test_what_changes_with_an_input_bit_follows_from_it(name: str) -> None:
    seen, found = changing(*module(name)), reached(*module(name))
    assert any(seen)
    for does, may in zip(seen, found, strict=True):
        assert does <= may


@pytest.mark.parametrize(
    ("name", "bit", "sources"),
    [
        ("bitwise", 1, {"a1", "b1", "s1", "n1"}),
        ("bitwise", 4, {"a4", "b4", "s3"}),
        ("sum", 1, {"a0", "a1", "b0", "b1"}),
        ("left", 1, {"a0", "a1", "n0", "n1", "n2"}),
        ("right", 2, {"s2", "s3", "n0", "n1", "n2"}),
        ("word", 1, {"a1", "a4", "b2", "n0", "n1", "n2"}),
        ("chosen", 3, {"a3", "s3", "n0"}),
        ("slice", 0, {"a3"}),
        ("looked_up", 5, {"n0", "n1", "n2"}),
    ],
)
def test_what_an_expression_does_not_name_is_no_source(name: str, bit: int, sources: set[str]) -> None:
    assert reached(*module(name))[bit] == sources


def test_registers_end_paths() -> None:
    m, held, result = Module(), Signal(5), Signal(RESULT_BITS)
    m.submodules.rows = rows = Memory(shape=3, depth=8, init=[])
    port = rows.read_port()
    m.d.sync += held.eq(A)
    m.d.comb += [port.addr.eq(N), result.eq(Cat(held, port.data, B[0]))]
    found = reached(ResetInserter(S[0])(m), result)
    assert found == [set()] * 8 + [{"b0"}] + [set()] * 3


def test_a_bit_that_follows_from_itself_is_an_error() -> None:
    m, first, second = Module(), Signal(), Signal()
    m.d.comb += [first.eq(second ^ A[0]), second.eq(first)]
    with pytest.raises(ValueError, match="follows from itself"):
        reached(m, first)


def test_hardware_that_is_not_known_is_an_error() -> None:
    m, result = Module(), Signal()
    m.submodules.foreign = Instance("foreign", i_a=A, o_result=result)
    with pytest.raises(TypeError, match="an instance of foreign"):
        reached(m, result)


class Inner(wiring.Component):
    """Requests a line for each buffer; what it says of free space is registered."""

    buffer: In(stream.Signature(COMMAND_BUFFER))
    lines: Out(LineClient())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [
            self.lines.request.valid.eq(self.buffer.valid),
            self.lines.request.payload.line.eq(self.buffer.payload.address[6:]),
            self.buffer.ready.eq(self.lines.request.ready),
        ]
        m.d.sync += self.lines.response.ready.eq(self.lines.response.valid)
        return m


class Outer(wiring.Component):
    """Puts a register at one side of it, and a wire around it."""

    buffer: In(stream.Signature(COMMAND_BUFFER))
    lines: Out(LineClient())
    ready: Out(1)
    extra: In(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.inner = inner = Inner()
        m.d.sync += [inner.buffer.valid.eq(self.buffer.valid), inner.buffer.payload.eq(self.buffer.payload)]
        wiring.connect(m, inner.lines, wiring.flipped(self.lines))
        m.d.comb += [self.buffer.ready.eq(inner.buffer.ready & self.extra), self.ready.eq(self.lines.request.ready)]
        return m


def test_pairs_are_those_of_each_unit_at_declared_borders() -> None:
    request, buffer = "lines__request__", "buffer__"
    assert pairs_of(Outer()) == {
        Pair("Inner", f"{buffer}valid", f"{request}valid"),
        Pair("Inner", f"{buffer}payload", f"{request}payload"),
        Pair("Inner", f"{request}ready", f"{buffer}ready"),
        Pair("Outer", f"{request}ready", f"{buffer}ready"),
    }


def test_declared_are_interfaces_and_what_has_a_layout_of_the_border() -> None:
    members = {
        "wavefronts": In(stream.Signature(wavefront_layout(4, 2))).array(2),
        "other": In(stream.Signature(data.StructLayout({"i": 3}))),
        "group": Out(wiring.Signature({"request": Out(LINE_REQUEST), "flag": Out(1)})),
        "credit": Out(CoreCredit()),
        "issue": Out(IssuePort(DEFAULT.array, SHAPES)),
        "flag": In(1),
    }
    signature = wiring.Signature(members)
    unit: Any = SimpleNamespace(signature=signature, **signature.members.create())
    inputs, outputs = border_ports(unit)
    assert set(inputs) == {
        *(f"wavefronts__{index}__{name}" for index in (0, 1) for name in ("valid", "payload")), "issue__done"
    }  # fmt: skip
    assert set(outputs) == {
        "wavefronts__0__ready", "wavefronts__1__ready", "group__request", "credit__free", "credit__taken",
        "issue__issue",
    }  # fmt: skip

"""The schedule of a group's reads of registers and constants: found cycle by cycle, by hardware of one cycle.

Source: R700-Family Instruction Set Architecture, section 4.7 (read ports); docs/design/r700-core.md.
"""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeVar

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS
from ctm.rtl.isa.r700.alu import IndexMode
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, GROUP_SLOTS, READ_CYCLES
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.r700.alu.decoded_operand import DecodedOperand
from ctm.rtl.r700.alu.locked import INDEX_BITS, LOCKED, constant_row
from ctm.rtl.r700.alu.operands import OPERANDS, PAIR, PORT

DECODE_CYCLES = READ_CYCLES + 1
"""Cycles in which the reads of a group are found: one for each in which the register file is read, and the last one."""
OPERAND_COUNT = GROUP_SLOTS * OPERANDS
"""Operands of a group."""

Kept = TypeVar("Kept", Signal, data.View)
_PORTS = data.ArrayLayout(PORT, CHANNELS)


@dataclass(frozen=True, eq=False)
class _Stray:
    """Operands whose register is relative to another index than the first one of their port; the first one's key."""

    operands: Signal
    key: Signal


class ReadPortSchedule(wiring.Component):
    """Assigns a port to every register that is read; two registers at one port are a problem.

    Registers of the same number that are relative to different indices are legal; but they may be two registers. So
    strays, which are relative to another index than the first user of their port, are read in another cycle, in which
    their channel reads nothing: the register of the first stray, and of those like it. A second stray register is a
    problem, and so is a channel without such a cycle.

    Members
    -------
    cycle : ``In(range(4))``
        In cycle 3 all outputs are valid.
    operands : ``In(ArrayLayout(DecodedOperand, 15))``
    reading : ``In(15)``
        Operands that read a register of their own.
    ports : ``Out``
        The reads, as [cycle][channel].
    cycles : ``Out(ArrayLayout(range(3), 15))``
        The cycle in which each operand is read.
    problem : ``Out(1)``
    """

    cycle: In(range(DECODE_CYCLES))
    operands: In(data.ArrayLayout(DecodedOperand, OPERAND_COUNT))
    reading: In(OPERAND_COUNT)
    ports: Out(data.ArrayLayout(_PORTS, READ_CYCLES))
    cycles: Out(data.ArrayLayout(range(READ_CYCLES), OPERAND_COUNT))
    problem: Out(1)

    latency = DECODE_CYCLES - 1

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        first = Signal(name="is_first_cycle")
        now, taken, found, collides = self._ports_now(m)
        # The strays' common register is found a cycle later.
        strays = Signal.like(found, name="strays_found")
        m.d.sync += strays.eq(found)
        stray, unlike = self._strays(m, strays)
        full = self._move(m, self._all(m, now), self._all(m, taken), stray)
        problem, before = Signal(name="port_problem"), Signal(name="port_problem_before")
        m.d.comb += [
            first.eq(self.cycle == 0),
            problem.eq(collides | (~first & (unlike | before))),
            self.problem.eq(unlike | before | full),
        ]
        m.d.sync += before.eq(problem)
        return m

    def _ports_now(self, m: Module) -> tuple[data.View, Signal, Value, Value]:
        """The channels' reads in this cycle, the channels that read, the strays, and whether registers collide."""
        operands = list(self.operands)
        keys = [Cat(operand.select[:REGISTER_BITS], operand.relative) for operand in operands]
        now = Signal(_PORTS, name="ports_now")
        taken, strays, collides = Signal(CHANNELS, name="taken_now"), [], []
        for channel in range(CHANNELS):
            users, mode = Signal(len(operands), name=f"users_{channel}"), Signal(IndexMode, name=f"mode_{channel}")
            chosen = Signal(len(keys[0]), name=f"chosen_{channel}")
            for use, operand in reversed(list(zip(users, operands, strict=True))):
                with m.If(use):
                    m.d.comb += Value.cast(mode).eq(operand.mode)
            m.d.comb += [
                users.eq(
                    Cat(
                        reads & (operand.cycle == self.cycle) & (operand.channel == channel)
                        for operand, reads in zip(operands, self.reading, strict=True)
                    )
                ),
                # All have the same key, or one has another key than this.
                chosen.eq(reduce(or_, (Mux(use, key, 0) for use, key in zip(users, keys, strict=True)))),
                Cat(now[channel].number, now[channel].relative).eq(chosen),
                now[channel].mode.eq(mode),
                taken[channel].eq(users.any()),
            ]
            collides += [use & (key != chosen) for use, key in zip(users, keys, strict=True)]
            strays.append(
                Cat(
                    use & operand.relative & (operand.mode != Value.cast(mode))
                    for use, operand in zip(users, operands, strict=True)
                )
            )
        return now, taken, reduce(or_, strays), Cat(collides).any()

    def _keys(self) -> list[Value]:
        """The key that distinguishes stray registers."""
        return [Cat(each.channel, each.mode, each.select[:REGISTER_BITS]) for each in self.operands]

    def _strays(self, m: Module, found: Signal) -> tuple[_Stray, Value]:
        """The strays up to the previous cycle's, `found`, and whether one of these differs from the first one."""
        keys = self._keys()
        key = Signal(len(keys[0]), name="key_found")
        for is_stray, own in reversed(list(zip(found, keys, strict=True))):
            with m.If(is_stray):
                m.d.comb += key.eq(own)
        kept = _Stray(Signal.like(found, name="strays_kept"), Signal.like(key, name="key_kept"))
        so_far = _Stray(Signal.like(found, name="strays"), Signal.like(key, name="key"))
        before = Mux(self.cycle == 1, 0, kept.operands)
        m.d.comb += [so_far.operands.eq(before | found), so_far.key.eq(Mux(before.any(), kept.key, key))]
        m.d.sync += [kept.operands.eq(so_far.operands), kept.key.eq(so_far.key)]
        unlike = [is_stray & (key != so_far.key) for is_stray, key in zip(found, keys, strict=True)]
        return so_far, Cat(unlike).any()

    def _all(self, m: Module, now: Kept) -> list[Kept]:
        """A value of each cycle in which registers are read, valid after them."""
        kept = [Signal.like(now, name=f"kept_{cycle}") for cycle in range(READ_CYCLES)]
        for cycle, target in enumerate(kept):
            with m.If(self.cycle == cycle):
                m.d.sync += target.eq(now)
        return kept

    def _move(self, m: Module, ports: list[data.View], taken: list[Signal], stray: _Stray) -> Value:
        """Give the ports and the operands' cycles with strays moved. Returns whether there is no cycle for them."""
        key, moves = stray.key, Signal(name="moves")
        channel, mode, number = key[:2], key[2:-REGISTER_BITS], key[-REGISTER_BITS:]
        free, cycle = Signal(READ_CYCLES, name="free"), Signal(range(READ_CYCLES), name="cycle_of_moved")
        m.d.comb += [
            moves.eq(stray.operands.any()),
            free.eq(~Cat(Array(each)[channel] for each in taken)),
            cycle.eq(one_hot_index(lowest_one(free))),
        ]
        after = [Signal(_PORTS, name=f"ports_{number}") for number in range(READ_CYCLES)]
        for read_cycle, (target, own) in enumerate(zip(after, ports, strict=True)):
            m.d.comb += target.eq(own)
            for at in range(CHANNELS):
                with m.If(moves & (cycle == read_cycle) & (channel == at)):
                    m.d.comb += [
                        target[at].number.eq(number),
                        target[at].relative.eq(1),
                        Value.cast(target[at].mode).eq(mode),
                    ]
        cycles = [Signal(range(READ_CYCLES), name="read_in") for _ in self.operands]
        m.d.comb += [
            target.eq(Mux(moved, cycle, operand.cycle))
            for target, moved, operand in zip(cycles, stray.operands, self.operands, strict=True)
        ]
        m.d.comb += [
            Value.cast(self.ports).eq(Cat(map(Value.cast, after))),
            Value.cast(self.cycles).eq(Cat(cycles)),
        ]
        return moves & ~free.any()


class ConstantPortAllocator(wiring.Component):
    """Assigns one of two pairs to every constant, one in each of the first cycles; a third pair is a problem.

    Members
    -------
    cycle : ``In(range(4))``
        In cycle 3 all outputs are valid.
    operands : ``In(ArrayLayout(DecodedOperand, 15))``
    locked : ``In(LOCKED)``
    pairs : ``Out(ArrayLayout(PAIR, 2))``
    in_first : ``Out(15)``
        Operands whose constant is in the first pair.
    problem : ``Out(1)``
    """

    cycle: In(range(DECODE_CYCLES))
    operands: In(data.ArrayLayout(DecodedOperand, OPERAND_COUNT))
    locked: In(LOCKED)
    pairs: Out(data.ArrayLayout(PAIR, CONSTANT_PAIRS))
    in_first: Out(OPERAND_COUNT)
    problem: Out(1)

    latency = DECODE_CYCLES - 1

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        operands = list(self.operands)
        width = INDEX_BITS + 2 + len(operands[0].mode)
        keys = [Signal(width, name="pair_key") for _ in operands]
        remaining, others = (
            Signal(len(operands), name="constants_remaining"),
            Signal(len(operands), name="constants_others"),
        )
        chosen, matches = Signal(width, name="chosen_pair"), Signal(len(operands), name="matches")
        candidates = Signal(len(operands), name="candidates")
        m.d.comb += [
            *(
                key.eq(Cat(each.constant_index, each.channel[1], each.relative, Mux(each.relative, each.mode, 0)))
                for key, each in zip(keys, operands, strict=True)
            ),
            candidates.eq(Mux(self.cycle == 0, Cat(operand.constant for operand in operands), remaining)),
            matches.eq(Cat(key == chosen for key in keys)),
            others.eq(candidates & ~matches),
        ]
        for use, key in reversed(list(zip(candidates, keys, strict=True))):
            with m.If(use):
                m.d.comb += chosen.eq(key)
        pairs = [Signal(PAIR, name=f"pair_{number}") for number in range(CONSTANT_PAIRS)]
        for number, pair in enumerate(pairs):
            with m.If(self.cycle == number):
                m.d.sync += [
                    remaining.eq(others),
                    pair.used.eq(candidates.any()),
                    pair.row.eq(constant_row(self.locked, chosen[:INDEX_BITS])),
                    Cat(pair.half, pair.relative, pair.mode).eq(chosen[INDEX_BITS:]),
                ]
        with m.If(self.cycle == 0):
            m.d.sync += self.in_first.eq(matches)
        m.d.comb += [Value.cast(self.pairs).eq(Cat(map(Value.cast, pairs))), self.problem.eq(remaining.any())]
        return m

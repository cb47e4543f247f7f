"""Where the operands of a group come from: read ports, constants, values, previous results.

Source: R700-Family Instruction Set Architecture, sections 4.6 and 4.7; docs/architecture.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS, WORD_BITS
from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import ALU_DWORD0, ALU_DWORD1_OP2, ALU_DWORD1_OP3, IndexMode, TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.limits import (
    CONSTANT_PAIRS,
    GROUP_SLOTS,
    KCACHE_LINE_ROWS,
    KCACHE_SETS,
    READ_CYCLES,
    TRANS_CONSTANTS,
    TRANS_SLOT,
)
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.r700.code.groups import GROUP

OPERANDS = 3
_ROW_BITS = 12
_MODE = IndexMode

KCACHE = data.StructLayout({"line": 8, "lines": 2, "problem": 1})
"""What a clause locked of a set: `lines` of 16 rows from `line` on; with `problem` none may be used."""

PORT = data.StructLayout({"number": REGISTER_BITS, "relative": 1, "mode": _MODE})
"""A register that is read in one cycle at one channel's port; any if none is."""
PAIR = data.StructLayout({"used": 1, "row": _ROW_BITS, "half": 1, "relative": 1, "mode": _MODE})
"""Two neighbouring channels of a constant."""


class Source(enum.Enum, shape=2):
    """What an operand is."""

    REGISTER = 0
    VECTOR = 1
    SCALAR = 2
    UNIFORM = 3


class Uniform(enum.Enum, shape=1):
    """What is the same in all pixels: a constant, or a value of the code."""

    CONSTANT = 0
    VALUE = 1


OPERAND = data.StructLayout(
    {
        "source": Source,
        "channel": range(CHANNELS),
        "cycle": range(READ_CYCLES),
        "uniform": Uniform,
        "pair": range(CONSTANT_PAIRS),
        "value": WORD_BITS,
    }
)
"""A register read in `cycle`, a previous result, a half of a `pair`, or a `value`."""

READS = data.StructLayout(
    {
        "ports": data.ArrayLayout(data.ArrayLayout(PORT, CHANNELS), READ_CYCLES),
        "pairs": data.ArrayLayout(PAIR, CONSTANT_PAIRS),
        "operands": data.ArrayLayout(data.ArrayLayout(OPERAND, OPERANDS), GROUP_SLOTS),
        "illegal": 1,
        "relative": 1,
    }
)
"""All that a group reads. `relative`: to AR."""


@dataclass(frozen=True)
class _Wanted:
    """An operand as its word has it: what it is, one bit each, and the fields."""

    slot: int
    used: Value
    register: Value
    constant: Value
    value: Value
    previous: Value
    wrong: Value
    select: Value
    channel: Value
    relative: Value
    mode: Value
    cycle: Value
    row: Value


class GroupReads(wiring.Component):
    """Finds what a group reads, and whether it may. Combinational.

    Members
    -------
    group : ``In(GROUP)``
    operands : ``In(ArrayLayout(2, 5))``
        How many operands each instruction has.
    kcache : ``In(ArrayLayout(KCACHE, 2))``
    produced : ``In(5)``
        Slots of the clause's previous group.
    reads : ``Out(READS)``
    """

    group: In(GROUP)
    operands: In(data.ArrayLayout(2, GROUP_SLOTS))
    kcache: In(data.ArrayLayout(KCACHE, KCACHE_SETS))
    produced: In(GROUP_SLOTS)
    reads: Out(READS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        wanted = [[self._wanted(m, slot, number) for number in range(OPERANDS)] for slot in range(GROUP_SLOTS)]
        every = [operand for slot in wanted for operand in slot]
        problems = [operand.used & operand.wrong for operand in every]
        reading = []
        for slot in wanted:
            shares = self._shares(slot)
            reading.append([slot[0].register, slot[1].register & ~shares, slot[2].register])
            if slot[0].slot == TRANS_SLOT:
                problems += self._trans(slot)
        reads = self.reads
        moves, cycle = self._assign_ports(m, every, [bit for slot in reading for bit in slot], problems)
        self._assign_pairs(m, every, problems)
        cycles = [Mux(move, cycle, operand.cycle) for operand, move in zip(every, moves, strict=True)]
        for number, (operand, target) in enumerate(
            zip(every, [each for slot in reads.operands for each in slot], strict=True)
        ):
            shares = self._shares(wanted[operand.slot]) if operand is wanted[operand.slot][1] else Const(0, 1)
            m.d.comb += target.cycle.eq(Mux(shares, cycles[number - 1], cycles[number]))
            self._connect(m, operand, target)
        ar_relative = [
            operand.used & operand.relative & (operand.register | operand.constant)
            & (operand.mode != IndexMode.LOOP.value)
            for operand in every
        ]  # fmt: skip
        m.d.comb += [reads.illegal.eq(Cat(problems).any()), reads.relative.eq(Cat(ar_relative).any())]
        return m

    def _wanted(self, m: Module, slot: int, number: int) -> _Wanted:
        word = self.group.words[slot]
        low, high = data.View(ALU_DWORD0, word[:WORD_BITS]), word[WORD_BITS:]
        three = data.View(ALU_DWORD1_OP3, high)
        fields = three if number == OPERANDS - 1 else low
        select, channel = Value.cast(fields[f"src{number}_sel"]), Value.cast(fields[f"src{number}_chan"])
        relative, mode = Value.cast(fields[f"src{number}_rel"]), Value.cast(low.index_mode)
        used = self.group.used[slot] & (self.operands[slot] > number)
        register = select < alu.KCACHE_0
        which = select >= alu.KCACHE_1
        constant = ~register & (select < alu.KCACHE_END)
        lock: Any = data.View(KCACHE, Array(map(Value.cast, self.kcache))[which])
        row_in_set = select[:5]
        row = Signal(_ROW_BITS, name=f"row_{slot}_{number}")
        m.d.comb += row.eq(lock.line * KCACHE_LINE_ROWS + row_in_set)
        unlocked = lock.problem | (row_in_set >= lock.lines * KCACHE_LINE_ROWS)
        inline = Cat(select == code for code in alu.INLINE_CONSTANTS).any()
        value = inline | (select == alu.LITERAL)
        vector, scalar = select == alu.PREVIOUS_VECTOR, select == alu.PREVIOUS_SCALAR
        missing = (vector & ~self.produced.bit_select(channel, 1)) | (scalar & ~self.produced[TRANS_SLOT])
        cycle, known = self._cycle(m, slot, number, Value.cast(data.View(ALU_DWORD1_OP2, high).bank_swizzle))
        bad_mode = relative & (mode > IndexMode.LOOP.value)

        def named(value: Value, name: str) -> Signal:
            """The value as a signal: it is used often."""
            signal = Signal(len(value), name=f"{name}_{slot}_{number}")
            m.d.comb += signal.eq(value)
            return signal

        wrong = (
            (~register & ~constant & ~value & ~vector & ~scalar)
            | (constant & unlocked)
            | (relative & ~register & ~constant)
            | ((register | constant) & bad_mode)
            | missing
            | ~known
        )
        return _Wanted(
            slot=slot, used=used, register=named(used & register, "is_register"),
            constant=named(used & constant, "is_constant"), value=named(used & value, "is_value"),
            previous=named(used & (vector | scalar), "is_previous"), wrong=named(wrong, "is_wrong"),
            select=named(select, "select"), channel=named(channel, "channel"), relative=named(relative, "relative"),
            mode=named(mode, "mode"), cycle=cycle, row=row,
        )  # fmt: skip

    def _cycle(self, m: Module, slot: int, number: int, swizzle: Value) -> tuple[Value, Value]:
        """The cycle in which an operand is read, and whether there is such a swizzle."""
        cycle, known = Signal(range(READ_CYCLES), name=f"cycle_{slot}_{number}"), Signal(name=f"known_{slot}_{number}")
        with m.Switch(swizzle):
            for code in TransSwizzle if slot == TRANS_SLOT else VectorSwizzle:
                with m.Case(code.value):
                    # The digits of the name are the cycles.
                    m.d.comb += [cycle.eq(int(code.name[-OPERANDS:][number])), known.eq(1)]
        return cycle, known

    @staticmethod
    def _shares(slot: Sequence[_Wanted]) -> Value:
        """Whether operand 1 of a vector slot is what operand 0 has read already."""
        first, second = slot[0], slot[1]
        if first.slot == TRANS_SLOT:
            return Const(0, 1)
        same = Cat(first.select, first.channel, first.relative) == Cat(second.select, second.channel, second.relative)
        return first.register & second.register & same

    @staticmethod
    def _trans(slot: Sequence[_Wanted]) -> list[Value]:
        """What is wrong with the reads of slot t, whose constants take the first cycles."""
        constants = sum(operand.constant | operand.value for operand in slot)
        late = [(operand.register | operand.previous) & (operand.cycle < constants) for operand in slot]
        return [Value.cast(constants > TRANS_CONSTANTS), *late]

    def _assign_ports(
        self, m: Module, every: list[_Wanted], reading: list[Value], problems: list[Value]
    ) -> tuple[list[Value], Signal]:
        """Give every register that is read a port; two registers at one port are a problem.

        Registers of the same number that are relative to unlike indices are none; but they may be two registers. So
        strays, who are relative to another index than the first user of their port, are read in another cycle.
        """
        strays: list[list[Value]] = [[] for _ in every]
        taken: list[list[Value]] = [[] for _ in range(CHANNELS)]
        for cycle in range(READ_CYCLES):
            for channel in range(CHANNELS):
                port = self.reads.ports[cycle][channel]
                users = [
                    reads & (operand.cycle == cycle) & (operand.channel == channel)
                    for operand, reads in zip(every, reading, strict=True)
                ]
                keys = [Cat(operand.select[:REGISTER_BITS], operand.relative) for operand in every]
                chosen = Signal(len(keys[0]), name=f"port_{cycle}_{channel}")
                mode = Signal(_MODE, name=f"mode_{cycle}_{channel}")
                for use, key, operand in reversed(list(zip(users, keys, every, strict=True))):
                    with m.If(use):
                        m.d.comb += [chosen.eq(key), Value.cast(mode).eq(operand.mode)]
                m.d.comb += [
                    port.number.eq(chosen[:REGISTER_BITS]),
                    port.relative.eq(chosen[-1]),
                    port.mode.eq(mode),
                ]
                problems += [use & (key != chosen) for use, key in zip(users, keys, strict=True)]
                for stray, use, operand in zip(strays, users, every, strict=True):
                    stray.append(use & operand.relative & (operand.mode != Value.cast(mode)))
                taken[channel].append(Cat(users).any())
        return self._move(m, every, [Cat(stray).any() for stray in strays], taken, problems)

    def _move(
        self, m: Module, every: list[_Wanted], strays: list[Value], taken: list[list[Value]], problems: list[Value]
    ) -> tuple[list[Value], Signal]:
        """Read the register of the first stray, and of those like it, in a cycle in which its channel reads nothing.

        Another stray register is a problem, and so is a channel without such a cycle. Returns who moves, and the cycle.
        """
        keys = [Cat(operand.channel, operand.mode, operand.select[:REGISTER_BITS]) for operand in every]
        moved, cycle = Signal(len(keys[0]), name="moved"), Signal(range(READ_CYCLES), name="cycle_of_moved")
        for stray, key in reversed(list(zip(strays, keys, strict=True))):
            with m.If(stray):
                m.d.comb += moved.eq(key)
        channel, mode, number = moved[:2], moved[2:-REGISTER_BITS], moved[-REGISTER_BITS:]
        free = ~Array(Cat(cycles) for cycles in taken)[channel]
        moves, follows = Cat(strays).any(), [stray & (key == moved) for stray, key in zip(strays, keys, strict=True)]
        m.d.comb += cycle.eq(one_hot_index(lowest_one(free)))
        for place in range(READ_CYCLES):
            for at in range(CHANNELS):
                port = self.reads.ports[place][at]
                with m.If(moves & (cycle == place) & (channel == at)):
                    m.d.comb += [port.number.eq(number), port.relative.eq(1), Value.cast(port.mode).eq(mode)]
        problems += [stray & ~follow for stray, follow in zip(strays, follows, strict=True)]
        problems.append(moves & ~free.any())
        return follows, cycle

    def _assign_pairs(self, m: Module, every: list[_Wanted], problems: list[Value]) -> None:
        """Give every constant one of two pairs; a third is a problem."""
        keys = [
            Cat(operand.row, operand.channel[1], operand.relative, Mux(operand.relative, operand.mode, 0))
            for operand in every
        ]
        left: list[Value] = [operand.constant for operand in every]
        in_first: list[Value] = []
        for number in range(CONSTANT_PAIRS):
            pair = self.reads.pairs[number]
            chosen = Signal(len(keys[0]), name=f"pair_{number}")
            for use, key in reversed(list(zip(left, keys, strict=True))):
                with m.If(use):
                    m.d.comb += chosen.eq(key)
            m.d.comb += [
                pair.used.eq(Cat(left).any()),
                pair.row.eq(chosen[:_ROW_BITS]),
                pair.half.eq(chosen[_ROW_BITS]),
                pair.relative.eq(chosen[_ROW_BITS + 1]),
                Value.cast(pair.mode).eq(chosen[_ROW_BITS + 2 :]),
            ]
            matches: list[Value] = [key == chosen for key in keys]
            left = [use & ~match for use, match in zip(left, matches, strict=True)]
            in_first = in_first or matches
        for match, target in zip(in_first, [each for slot in self.reads.operands for each in slot], strict=True):
            m.d.comb += target.pair.eq(~match)
        problems += left

    def _connect(self, m: Module, operand: _Wanted, target: data.View) -> None:
        """Say what an operand is."""
        literal = Array(self.group.literals)[operand.channel]
        m.d.comb += [
            target.channel.eq(operand.channel),
            target.source.eq(Source.UNIFORM),
            target.uniform.eq(Mux(operand.constant, Uniform.CONSTANT.value, Uniform.VALUE.value)),
        ]
        with m.If(operand.register):
            m.d.comb += target.source.eq(Source.REGISTER)
        with m.If(operand.previous):
            m.d.comb += target.source.eq(Mux(operand.select[0], Source.SCALAR.value, Source.VECTOR.value))
        with m.Switch(operand.select):
            for code, (_, bits) in alu.INLINE_CONSTANTS.items():
                with m.Case(code):
                    m.d.comb += target.value.eq(bits)
            with m.Case(alu.LITERAL):
                m.d.comb += target.value.eq(literal)

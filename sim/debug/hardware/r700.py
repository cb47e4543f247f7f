"""Reads what a core of the R700 showed of a wavefront."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, SUBENTRIES
from ctm.rtl.isa.r700.program import FAULT_PC
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.rtl.r700.border.lane import INDEX
from ctm.rtl.r700.partition import PERIOD, Partition
from ctm.sim.compiled.fields import Fields
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.moment import Arrays, Moment, Recording
from ctm.sim.engines.tracing.order import bits, in_order, row
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.r700.instruction import AluWord, Fetch, FetchInstruction, Group, Illegal
from ctm.sim.golden.r700.operands import temporary_index
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import whole_quads

_WORD_MASK = (1 << FAULT_PC["word"].width) - 1
_ADDRESS_BIT = FAULT_PC["address"].offset
_CHANNELS = "xyzw"
_MASKS = ("branch_mask", "continue_mask", "break_mask", "valid_mask")


@dataclass
class _Write:
    """A write of the register file: registers [channels] of the wavefront, words and enables of lanes [channels, n].

    A register of -1 is none of the wavefront's; `cleared` ones become 0 in front of it.
    """

    cycle: int
    registers: list[int]
    words: npt.NDArray[np.uint32]
    enables: npt.NDArray[np.bool_]
    cleared: list[tuple[int, slice]]
    lanes: slice


@dataclass
class _Step:
    moment: Moment
    clause: int
    """CF instructions that began before it, and its own."""
    results_begin: int | None = None
    """Of a group, the cycle in which the first of its results come: it may be issued in several passes."""
    destinations: frozenset[tuple[int, int]] = frozenset()
    """Of a fetch, the channels of registers that it writes."""
    writes: list[_Write] = field(default_factory=list)


class _Reader:
    """Collects the steps of the wavefront in a wave slot, whose first register is in a row of the file."""

    def __init__(self, array: ArrayConfig, program: Program, start: Batch[Any], wave: int) -> None:
        self._partition, self._program, self._wave = Partition.of(array), program, wave
        self._lanes = array.wavefront_lanes
        self._word, self._loop_index, self._base, self._clauses = 0, 0, 0, 0
        self._arrays: Arrays = {
            name: getattr(start, name).copy() for name in (*_MASKS, "active", "predicate", "address", "previous")
        }
        self._stack: dict[int, npt.NDArray[np.bool_]] = {}
        self._depth = 0
        self._results = np.zeros((GROUP_SLOTS, self._lanes), np.uint32)
        self._issued: list[tuple[int, bool, npt.NDArray[np.bool_]]] = []
        self._results_begin: int | None = None
        self.words: list[tuple[int, Fields]] = []
        self.writes: list[_Write] = []
        self.steps: list[_Step] = []

    def start(self, event: Fields) -> None:
        """Its registers are as at a program's start."""
        self._base = int(event["base"])

    def instruction(self, event: Fields) -> None:
        """A CF instruction begins: the masks are those after the one before."""
        state = event["state"]
        for name in _MASKS:
            self._arrays[name] = bits(state[name], self._lanes)
        self._activate()
        if self.steps:
            self._keep(self.steps[-1])
        self._clauses += 1
        self._word, self._loop_index = int(state["pc"]) & _WORD_MASK, int(state["index"])
        self._add(event, self._word)

    def push(self, event: Fields) -> None:
        """A row of some stack is written; those of this wave slot are known by their numbers."""
        rows = self._program.information.stack_size * SUBENTRIES
        number = int(event["row"]) - self._wave * rows
        if 0 <= number < rows:
            self._stack[number] = bits(event["words"]["mask"], self._lanes)
            if self.steps:
                self.steps[-1].moment.rows = dict(self._stack)

    def issue(self, event: Fields) -> None:
        """A group is issued, or one pass of it."""
        self._issued.append((int(event["address"]), bool(event["is_last"]), bits(event["chosen"], self._lanes)))

    def result(self, event: Fields) -> None:
        """Results of what was issued have come."""
        address, is_last, chosen = self._issued.pop(0)
        own = np.ix_(np.array(self._positions(address), int), np.flatnonzero(chosen & self._executing()))
        self._results[own] = self._latest_words(int(event["cycle"]))[own]
        self._results_begin = self._results_begin or int(event["cycle"])
        if not is_last:
            return
        masks = event["masks"]
        for name in ("branch_mask", "valid_mask", "predicate"):
            self._arrays[name] = bits(masks[name], self._lanes)
        half = 1 << (INDEX.width - 1)
        self._arrays["address"] = (event["addresses"].astype(np.int64) + half) % (2 * half) - half
        self._arrays["previous"] = self._results.copy().view(np.float32)
        self._activate()
        step = self._add(event, address << _ADDRESS_BIT | self._word)
        step.results_begin, self._results_begin = self._results_begin, None

    def fetch(self, event: Fields) -> None:
        """A fetch instruction begins."""
        address = int(event["address"])
        step = self._add(event, address << _ADDRESS_BIT | self._word)
        step.destinations = self._destinations(address)

    def end(self, event: Fields) -> None:
        """It is at its end, or stops."""
        if self.steps and Status(int(event["problem"]["status"])) is Status.OK:
            self._arrays["valid_mask"] = bits(event["valid_mask"], self._lanes)
            self._keep(self.steps[-1])

    def file(self, event: Fields) -> None:
        """The register file is written."""
        writes, size = event["writes"], self._partition.slice
        count = self._program.temporaries
        rows = writes["row"].astype(int) - self._base
        block = int(writes["row"][0]) // ROWS_TOGETHER * ROWS_TOGETHER - self._base
        cleared = [block + bit for bit in range(ROWS_TOGETHER) if int(event["invalidates"]) >> bit & 1]
        inside = [0 <= row < count * self._partition.slices for row in rows]
        half = next((int(row) // count for row, own in zip(rows, inside, strict=True) if own), 0)
        lanes = slice(half * size, (half + 1) * size)
        gone = [
            (row % count, slice(row // count * size, (row // count + 1) * size))
            for row in cleared
            if 0 <= row < count * self._partition.slices
        ]
        if not any(inside) and not gone:
            return
        enables = np.stack([bits(enable, size) for enable in writes["enable"]])
        registers = [int(row) % count if own else -1 for row, own in zip(rows, inside, strict=True)]
        self.writes.append(_Write(int(event["cycle"]), registers, writes["words"].copy(), enables, gone, lanes))

    # Inside.

    def _add(self, event: Fields, pc: int) -> _Step:
        step = _Step(Moment(int(event["cycle"]), pc), self._clauses)
        self.steps.append(step)
        self._keep(step)
        return step

    def _activate(self) -> None:
        arrays = self._arrays
        arrays["active"] = arrays["branch_mask"] & ~arrays["continue_mask"] & ~arrays["break_mask"]

    def _keep(self, step: _Step) -> None:
        step.moment.arrays, step.moment.rows = dict(self._arrays), dict(self._stack)

    def _latest_words(self, cycle: int) -> npt.NDArray[np.uint32]:
        """The words [slot, lanes] that came up to a cycle, slice by slice."""
        slices = [event["words"] for at, event in self.words if at <= cycle][-self._partition.slices :]
        return np.concatenate(slices, axis=-1)

    def _instruction(self, address: int) -> Group | FetchInstruction | Illegal | None:
        clause = self._program.code.clause(self._word)
        if clause is None or address not in clause.addresses:
            return None
        return clause.instructions[clause.addresses.index(address)]

    def _executing(self) -> npt.NDArray[np.bool_]:
        """Pixels that execute the groups of the clause."""
        word, active = self._program.code.word(self._word), self._arrays["active"]
        return whole_quads(active) if isinstance(word, AluWord) and word.whole_quads else active

    def _positions(self, address: int) -> list[int]:
        """The slots of a group that have instructions."""
        group = self._instruction(address)
        return [slot.position for slot in group.slots] if isinstance(group, Group) else []

    def _destinations(self, address: int) -> frozenset[tuple[int, int]]:
        instruction = self._instruction(address)
        if not isinstance(instruction, Fetch):
            return frozenset()
        first = instruction.destination + (self._loop_index if instruction.destination_relative else 0)
        selects = enumerate(instruction.selects)
        channels = [channel for channel, select in selects if select != ComponentSelect.MASK.value]
        numbers = [temporary_index(self._program, first + number) for number in range(getattr(instruction, "burst", 1))]
        return frozenset((number, channel) for number in numbers if number is not None for channel in channels)


def recording(array: ArrayConfig, program: Program, start: Batch[Any], events: Mapping[str, Fields]) -> Recording:
    """What the trace of a wavefront's core says of the wavefront, which begins with the first event.

    Raises
    ------
    DebugError
        It begins with other registers than on the golden model.
    """
    wave = int(events["take"]["wave"][0])
    reader = _Reader(array, program, start, wave)
    begun = np.flatnonzero(events["start"]["wave"] == wave)
    if begun.size:
        # Its registers are written before that.
        reader.start(row(events["start"], begun[0]))
    for kind, event in in_order(events):
        if kind == "words":
            reader.words.append((int(event["cycle"]), event))
        elif kind in ("file", "push"):
            getattr(reader, kind)(event)
        elif int(event["wave"]) == wave and kind != "take":
            getattr(reader, kind)(event)
    _attribute(reader.steps, reader.writes, Partition.of(array).slices)
    words = start.temporaries.view(np.uint32).copy()
    _check_start(reader, words, start.covered)
    for step in reader.steps:
        for write in step.writes:
            _store(words, write)
        step.moment.arrays["temporaries"] = words.copy().view(np.float32)
    return Recording([step.moment for step in reader.steps], int(events["take"]["cycle"][0]))


def _check_start(reader: _Reader, wanted: npt.NDArray[np.uint32], covered: npt.NDArray[np.bool_]) -> None:
    if not reader.steps:
        return
    found = np.zeros_like(wanted)
    for write in reader.writes:
        if write.cycle < reader.steps[0].moment.cycle:
            _store(found, write)
    differs = np.argwhere((found != wanted) & covered)
    if differs.size:
        register, channel, lane = map(int, differs[0])
        words = [f"0x{each[register, channel, lane]:08x}" for each in (found, wanted)]
        name = f"R{register}.{_CHANNELS[channel]}"
        raise DebugError(
            f"the hardware's wavefront begins otherwise: lane {lane} has {name} = {words[0]}, on the golden model "
            f"{words[1]}"
        )


def _attribute(steps: list[_Step], writes: list[_Write], slices: int) -> None:
    """Give each write to the instruction that made it; those in front of the first one are the wavefront's start.

    A group writes while its results come, slice by slice, and in the next cycle; a fetch whenever responses come, but
    in its clause. A fetch from a buffer writes 0 and 1 in front of the words of memory.
    """
    begun = [step.moment.cycle for step in steps]
    before = PERIOD * (slices - 1)
    groups = [(step.results_begin - before, step) for step in steps if step.results_begin is not None]
    fetches = [step for step in steps if step.destinations]
    for write in writes:
        if not steps or write.cycle < steps[0].moment.cycle:
            continue
        made = next((step for first, step in groups if first <= write.cycle <= step.moment.cycle + 1), None)
        if made is None:
            clause = steps[bisect_right(begun, write.cycle) - 1].clause
            able = [step for step in fetches if step.clause == clause and _may_be_of(step, write)]
            made = next((step for step in able if not _has(step, write)), able[-1] if able else None)
        if made is not None:
            made.writes.append(write)


def _may_be_of(step: _Step, write: _Write) -> bool:
    """Whether a write may be that of a fetch."""
    written = {
        (register, channel)
        for channel, register in enumerate(write.registers)
        if register >= 0 and write.enables[channel].any()
    }
    return bool(written) and written <= step.destinations


def _has(step: _Step, write: _Write) -> bool:
    """Whether a fetch has written some of these words: responses may come for some lanes, and for others later."""
    return any(
        other.lanes == write.lanes and other.registers == write.registers and (other.enables & write.enables).any()
        for other in step.writes
    )


def _store(words: npt.NDArray[np.uint32], write: _Write) -> None:
    for register, lanes in write.cleared:
        words[register, :, lanes] = 0
    for channel, register in enumerate(write.registers):
        if register >= 0:
            half = words[register, channel, write.lanes]
            half[write.enables[channel]] = write.words[channel][write.enables[channel]]

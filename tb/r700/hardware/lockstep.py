"""Compares the R700 core with the golden model after every CF instruction, group and fetch of every wavefront."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES, GROUP_SLOTS, SUBENTRIES
from ctm.rtl.isa.r700.program import FAULT_PC, describe_pc
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.rtl.r700.border.lane import INDEX
from ctm.rtl.r700.border.registers import depth_of
from ctm.rtl.r700.flow import stack
from ctm.rtl.r700.flow.stack import EntryKind as RowKind
from ctm.rtl.r700.partition import Partition
from ctm.sim.compiled.fields import Fields
from ctm.sim.engines.tracing.order import bits, in_order
from ctm.sim.fault import CycleLimitError
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r700.image import information_of
from ctm.sim.golden.r700.instruction import AluWord, Flow, Group
from ctm.sim.golden.r700.program import Code
from ctm.sim.golden.r700.state import UNLIMITED, EntryKind, whole_quads
from ctm.tb.lib.faults import AllFaults
from ctm.tb.r700.hardware.golden_record import Step, WavefrontRecord, record
from ctm.tb.r700.hardware.machine import same_outcome
from ctm.tb.r700.hardware.traced import TracedEngine
from ctm.tb.r700.machine import PROGRAM, Job, Run, run_on

_WORD_MASK = (1 << FAULT_PC["word"].width) - 1
_ADDRESS_BIT = FAULT_PC["address"].offset
_ROWS = {EntryKind.BRANCH: RowKind.BRANCH, EntryKind.LOOP: RowKind.LOOP, EntryKind.CALL: RowKind.CALL}


class Difference(Exception):  # noqa: N818
    """The core differs from the model; the message has the cycle, the event and the difference."""


@dataclass(eq=False)
class _Wavefront:
    """State of the wavefront in a wave slot, as the trace has shown it."""

    record: WavefrontRecord
    base: int
    """The row of its first register."""
    results: np.ndarray
    """Of the group that is executed, [slot, pixel], for the pixels so far."""
    steps: int = 0
    settles: Step | None = None
    """The step whose registers are all written before the next one begins."""
    beyond: int | None = None
    """The PC of an event after the model has stopped."""

    @property
    def is_unknown(self) -> bool:
        """Whether the wavefront runs until the watchdog stops it, which the model finds without executing all steps."""
        fault = self.record.fault
        return self.steps == len(self.record.steps) and fault is not None and fault[0] is Status.WATCHDOG

    @property
    def last(self) -> Step | None:
        """The step that was executed last."""
        return self.record.steps[self.steps - 1] if self.steps else None


class _Core:
    """State of one core, as its trace has shown it: wavefronts by wave slot, registers, stacks, groups in flight."""

    def __init__(self, array: ArrayConfig) -> None:
        self.waves: dict[int, _Wavefront] = {}
        self.taken: dict[int, WavefrontRecord] = {}
        self.registers = np.zeros((depth_of(array), CHANNELS, Partition.of(array).slice), np.uint32)
        self.words = np.zeros((GROUP_SLOTS, array.wavefront_lanes), np.uint32)
        """Results of the group whose results come."""
        self.stack: dict[int, Fields] = {}
        self.issued: deque[Fields] = deque()


class Comparison:
    """Compares one run; `code` is the program's, `stack_size` the subentries of each wave slot."""

    def __init__(
        self, array: ArrayConfig, code: Code, stack_size: int, records: Mapping[tuple[int, int], WavefrontRecord]
    ) -> None:
        self._partition = Partition.of(array)
        self._array, self._code, self._stack_size, self._records = array, code, stack_size, records
        self._cores: dict[int, _Core] = {}
        self._done: set[tuple[int, int]] = set()
        self._at = ""

    def check(self, events: Mapping[str, Fields]) -> None:
        """Go through the trace.

        Raises
        ------
        Difference
            At the first one.
        """
        for kind, event in in_order(events):
            core = self._cores.setdefault(int(event["core"]), _Core(self._array))
            self._at = "the start"
            try:
                getattr(self, f"_{kind}")(core, event)
            except Difference as difference:
                raise Difference(f"cycle {int(event['cycle'])}, {kind} of {self._at}: {difference}") from None
        missing = self._records.keys() - self._done
        if missing and not any(each.fault for each in self._records.values()):
            raise Difference(f"wavefronts that did not end: {sorted(missing)}")

    def _shown(self, core: _Core, event: Fields) -> _Wavefront:
        """The wavefront of an event's wave slot."""
        wave = int(event["wave"])
        if wave not in core.waves:
            raise Difference(f"wave slot {wave} has no wavefront")
        shown = core.waves[wave]
        step = "the start" if shown.last is None else describe_pc(shown.last.pc)
        self._at = f"wavefront ({shown.record.i}, {shown.record.j}) after {step}"
        return shown

    def _file(self, core: _Core, event: Fields) -> None:
        writes = event["writes"]
        rows = writes["row"].astype(int)
        block = int(rows[0]) // ROWS_TOGETHER * ROWS_TOGETHER
        invalidated = [block + bit for bit in range(ROWS_TOGETHER) if int(event["invalidates"]) >> bit & 1]
        core.registers[invalidated] = 0
        for channel, row in enumerate(rows):
            pixels = bits(writes["enable"][channel], self._partition.slice)
            core.registers[row, channel, pixels] = writes["words"][channel][pixels]

    def _take(self, core: _Core, event: Fields) -> None:
        wave, wavefront = int(event["wave"]), event["wavefront"]
        position = int(wavefront["i"]), int(wavefront["j"])
        if wave in core.waves:
            raise Difference(f"a wavefront takes wave slot {wave}, which another one has")
        if position not in self._records:
            raise Difference(f"a wavefront at {position}, outside the domain")
        core.taken[wave] = self._records[position]
        _same("coverage", bits(wavefront["covered"], self._array.wavefront_lanes), core.taken[wave].covered)

    def _start(self, core: _Core, event: Fields) -> None:
        wave = int(event["wave"])
        results = np.zeros((GROUP_SLOTS, self._array.wavefront_lanes), np.uint32)
        core.waves[wave] = _Wavefront(core.taken.pop(wave), int(event["base"]), results)

    def _next(self, shown: _Wavefront, pc: int) -> Step | None:
        """The step of an event; None where the model has stopped, which it may do at that PC only."""
        record = shown.record
        if shown.steps == len(record.steps):
            if record.fault is None or shown.beyond is not None:
                raise Difference(f"executes {describe_pc(pc)} where the model has stopped")
            shown.beyond = pc
            return None
        step = record.steps[shown.steps]
        if step.pc != pc:
            raise Difference(f"executes {describe_pc(pc)} where the model is at {describe_pc(step.pc)}")
        shown.steps += 1
        return step

    def _instruction(self, core: _Core, event: Fields) -> None:
        shown, state = self._shown(core, event), event["state"]
        if shown.is_unknown:
            return
        self._settle(core, shown)
        self._same_state(core, shown, int(event["wave"]), state)
        shown.settles = self._next(shown, int(state["pc"]) & _WORD_MASK)

    def _same_state(self, core: _Core, shown: _Wavefront, wave: int, state: Fields) -> None:
        """The control state of the instruction that begins, which is that after the previous step."""
        size, step = self._array.wavefront_lanes, shown.last
        _same("coverage", bits(state["covered"], size), shown.record.covered)
        _same("the row of R0", int(state["base"]), shown.base)
        if step is None:
            for name, value in (("branch_mask", 1), ("continue_mask", 0), ("break_mask", 0), ("valid_mask", 1)):
                _same(name, bits(state[name], size), np.full(size, bool(value)))
            _same("aL", int(state["index"]), 0)
            _same("the stack's depth", int(state["depth"]), 0)
            return
        _same("the next CF instruction", int(state["pc"]), step.control.word)
        for name in ("branch_mask", "continue_mask", "break_mask", "valid_mask"):
            _same(name, bits(state[name], size), step.state(name))
        _same("aL", int(state["index"]), step.control.loop_index)
        self._same_stack(core, wave, int(state["depth"]), int(state["branches"]), step)

    def _same_stack(self, core: _Core, wave: int, depth: int, branches: int, step: Step) -> None:
        """Every row of the stack: its mask, and its other fields."""
        size, index = self._array.wavefront_lanes, 0
        for entry, masks in zip(step.control.stack, step.frames, strict=True):
            besides: list[dict[str, int]] = [{}]
            if entry.kind is EntryKind.LOOP:
                limited = entry.rounds != UNLIMITED
                rounds = {"unlimited": int(not limited)} | ({"rounds": entry.rounds} if limited else {})
                besides = [{}, rounds, {"index": entry.loop_index}, {"step": entry.step & 0xFF}]
            elif entry.kind is EntryKind.CALL:
                besides = [{"target": entry.target, "count": entry.call_count}]
            for row, beside in enumerate(besides):
                what = f"row {index} of the stack"
                found = core.stack.get(wave * self._stack_size + index)
                if found is None:
                    raise Difference(f"{what} was not written")
                _same(f"{what}, its kind", RowKind(int(found["kind"])), _ROWS[entry.kind])
                if entry.kind is not EntryKind.CALL:
                    _same(f"{what}, its mask", bits(found["mask"], size), masks[row])
                for name, value in beside.items():
                    _same(f"{what}, {name}", _beside(entry.kind, row, name, int(found["beside"])), value)
                index += 1
        _same("the stack's depth", depth, index)
        _same("branches on the stack", branches, sum(entry.kind is EntryKind.BRANCH for entry in step.control.stack))

    def _push(self, core: _Core, event: Fields) -> None:
        core.stack[int(event["row"])] = event["words"]

    def _issue(self, core: _Core, event: Fields) -> None:
        self._shown(core, event)
        core.issued.append(event)

    def _words(self, core: _Core, event: Fields) -> None:
        size, number = self._partition.slice, int(event.get("slice", 0))
        core.words[:, number * size : (number + 1) * size] = event["words"]
        if not number and core.issued:
            # A slice is written when its results come; until then registers are those after the previous step.
            shown = self._shown(core, core.issued[0])
            if not shown.is_unknown:
                self._settle(core, shown)

    def _result(self, core: _Core, event: Fields) -> None:
        shown = self._shown(core, event)
        if not core.issued:
            raise Difference("results of a group that was not issued")
        issued = core.issued.popleft()
        _same("the wave slot of the group that was issued", int(issued["wave"]), int(event["wave"]))
        if shown.is_unknown:
            return
        size = self._array.wavefront_lanes
        pixels = bits(issued["chosen"], size)
        shown.results[:, pixels] = core.words[:, pixels]
        if not issued["is_last"]:
            return
        word = shown.last.control.word if shown.last is not None else 0
        before = shown.last
        step = self._next(shown, int(issued["address"]) << _ADDRESS_BIT | word & _WORD_MASK)
        if step is None or before is None:
            return
        self._same_group(shown, event, before, step)
        shown.settles = step

    def _same_group(self, shown: _Wavefront, event: Fields, before: Step, step: Step) -> None:
        size, masks = self._array.wavefront_lanes, event["masks"]
        _same("the valid mask", bits(masks["valid_mask"], size), step.state("valid_mask"))
        _same("predicates", bits(masks["predicate"], size), step.state("predicate"))
        if step.control.item >= 0:
            # After a clause's last group the model has executed the end of its CF instruction.
            _same("the branch mask", bits(masks["branch_mask"], size), step.state("branch_mask"))
        word, clause = self._code.word(before.control.word), self._code.clause(before.control.word)
        assert isinstance(word, AluWord) and clause is not None
        group = clause.instructions[before.control.item]
        assert isinstance(group, Group)
        executing = before.state("branch_mask") & ~before.state("continue_mask") & ~before.state("break_mask")
        executing = whole_quads(executing) if word.whole_quads else executing
        _same("address registers", _signed(event["addresses"])[:, executing], step.state("address")[:, executing])
        for slot in sorted(slot.position for slot in group.slots):
            expected, found = step.state("previous")[slot][executing], shown.results[slot][executing]
            _same(f"the result of slot {'xyzwt'[slot]}", found, expected)

    def _fetch(self, core: _Core, event: Fields) -> None:
        shown = self._shown(core, event)
        before = shown.last
        if shown.is_unknown:
            return
        if before is None:
            raise Difference("a fetch before the first CF instruction")
        word = self._code.word(before.control.word)
        assert isinstance(word, Flow)
        if before.control.item == 0:
            self._settle(core, shown)
        shown.settles = self._next(shown, int(event["address"]) << _ADDRESS_BIT | before.control.word & _WORD_MASK)
        executing = before.state("branch_mask") & ~before.state("continue_mask") & ~before.state("break_mask")
        if word.valid_pixels:
            executing &= before.state("valid_mask") & shown.record.covered
        executing = whole_quads(executing) if word.whole_quads else executing
        _same("executing pixels", bits(event["executing"], self._array.wavefront_lanes), executing)

    def _end(self, core: _Core, event: Fields) -> None:
        shown, wave = self._shown(core, event), int(event["wave"])
        record, size, problem = shown.record, self._array.wavefront_lanes, event["problem"]
        status = Status(int(problem["status"]))
        pc = int(problem["address"]) << _ADDRESS_BIT | int(event["pc"]) & _WORD_MASK
        found = None if status is Status.OK else (status, pc)
        _same("the fault", _fault(found), _fault(record.fault))
        if shown.beyond is not None:
            _same("the PC of the fault", describe_pc(shown.beyond & _WORD_MASK), describe_pc(pc & _WORD_MASK))
        _same("executed instructions", shown.steps, len(record.steps))
        if found is None:
            self._settle(core, shown)
            expected = np.ones(size, bool) if shown.last is None else shown.last.state("valid_mask")
            _same("the valid mask", bits(event["valid_mask"], size), expected)
        self._done.add((record.i, record.j))
        del core.waves[wave]

    def _settle(self, core: _Core, shown: _Wavefront) -> None:
        """Compare the registers after the step that has ended."""
        step, shown.settles = shown.settles, None
        if step is None:
            return
        expected = step.state("registers")
        count = self._partition.slices
        found = core.registers[shown.base : shown.base + count * len(expected)]
        # The registers of a slice follow those of the previous slice.
        found = np.concatenate(np.split(found, count), axis=-1)
        wrong = found != expected
        if wrong.any():
            register, channel, pixel = np.argwhere(wrong)[0]
            raise Difference(
                f"{_register(int(register), len(expected))}.{'xyzw'[channel]} of pixel {pixel} is "
                f"0x{found[register, channel, pixel]:08x}, expected 0x{expected[register, channel, pixel]:08x}"
            )


def _signed(addresses: np.ndarray) -> np.ndarray:
    """Address registers as the model has them."""
    half = 1 << (INDEX.width - 1)
    return (addresses.astype(np.int64) + half) % (2 * half) - half


def _beside(kind: EntryKind, row: int, name: str, word: int) -> int:
    """A field of a row's bits beside its mask."""
    layouts = (stack.LOOP_BRANCH, stack.LOOP_CONTINUE, stack.LOOP_BREAK, stack.LOOP_ENTERED)
    wanted = (stack.CALL if kind is EntryKind.CALL else layouts[row])[name]
    return word >> wanted.offset & ((1 << wanted.width) - 1)


def _fault(fault: tuple[Status, int] | None) -> str:
    return "none" if fault is None else f"{fault[0].name} at {describe_pc(fault[1])}"


def _register(number: int, count: int) -> str:
    """The name of a register; clause temporaries are the last ones."""
    temporary = number - (count - CLAUSE_TEMPORARIES)
    return f"R{number}" if temporary < 0 else f"T{temporary}"


def _same(what: str, found: Any, expected: Any) -> None:
    if not np.array_equal(found, expected):
        raise Difference(f"{what}: {_text(found)}, expected {_text(expected)}")


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return "".join("01"[int(bit)] for bit in value.ravel())
    if isinstance(value, np.ndarray) and value.dtype == np.uint32:
        return " ".join(f"{word:08x}" for word in value.ravel())
    return str(value)


def _comparison(engine: TracedEngine, records: Mapping[tuple[int, int], WavefrontRecord]) -> Comparison:
    """The comparison for the program that was loaded last."""
    image = load(engine.memory, PROGRAM, "r700")
    information = information_of(image)
    code, stack_size = Code(image.code, information), information.stack_size * SUBENTRIES
    return Comparison(engine.array, code, stack_size, records)


def compare(job: Job, engine: TracedEngine) -> tuple[Run, Mapping[tuple[int, int], WavefrontRecord]]:
    """Run a job on the golden model and on the traced machine; what `record` gives.

    Raises
    ------
    Difference
        At the first step that is not the model's.
    CycleLimitError
        The machine hangs after steps that are the model's.
    AssertionError
        Memory is not as the model leaves it, or no wavefront of the model has the fault.
    """
    faults = AllFaults()
    expected, records = record(replace(job.on(engine.array.wavefront_lanes), observers=(*job.observers, faults)))
    engine.begin(job.watchdog)
    engine.traced.events()
    try:
        found = run_on(job, engine)
    except CycleLimitError:
        # What made it hang is more than that it does.
        _comparison(engine, records).check(engine.traced.events())
        raise
    _comparison(engine, records).check(engine.traced.events())
    same_outcome(found, expected, faults)
    return expected, records

"""The golden command processor between recorders: what the hardware must do, as the same events."""

import copy
from collections.abc import Sequence

import numpy as np

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.commands import BASE_MASK, Command
from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.executable import PROGRAM_INFORMATION_WORDS
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_WORDS
from ctm.rtl.isa.r5xx.program import PROGRAM_INFORMATION
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.isa.word import unpack
from ctm.sim.fault import MachineError
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.draw.stages import Stages
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.pe.domain import Domain, DomainWavefronts
from ctm.sim.golden.pe.loader import Image, load
from ctm.sim.golden.pe.processor import CommandProcessor
from ctm.sim.golden.pe.state import State
from ctm.sim.golden.r5xx.image import fields_of
from ctm.sim.memory import Memory
from ctm.tb.pe.simulation import Event, Work

_FLUSHES = ("flush_out_cache", "flush_cond_out_cache")
_PARAMETERS = 4


def _mix(x: np.ndarray) -> np.ndarray:
    x = (x ^ x >> 16) * np.uint32(0x7FEB352D)
    x = (x ^ x >> 15) * np.uint32(0x846CA68B)
    return x ^ x >> 16


class HashedTests(ConditionalUnit):
    """A conditional unit whose tests pass by chance, the same for the same pair and value."""

    salt = 0

    def decide(self, memory, x, y, value):
        if self.test is ConditionalTest.ALWAYS:
            passed = np.ones(x.shape, bool)
        else:
            pairs = x.astype(np.uint32) << 16 ^ y.astype(np.uint32) ^ np.uint32(self.salt)
            passed = (_mix(_mix(pairs) ^ value.view(np.uint32)) & 1).astype(bool)
        return passed, np.zeros(x.shape, bool)


class Recorder:
    """What happens around the golden processor."""

    def __init__(self, work: Work, first_faults: dict[int, int]) -> None:
        self.events: list[Event] = []
        self.work, self.memory, self._first_faults = work, work.memory, first_faults
        self.programs = self._flushes = 0

    def lose(self, at_flush: bool, number: int) -> None:
        for loss in self.work.losses:
            if (loss.at_flush, loss.number) == (at_flush, number) and self.memory.lost is None:
                self.memory.lost = BusClient(loss.client), loss.address

    def command(self, state: State, command: Command, words: Sequence[int]) -> None:
        if command.unit != "PE":
            padded = (*words, *[0] * (_PARAMETERS - len(words)))
            self.events.append(("unit", (command.opcode, *padded)))
        if command.name in _FLUSHES:
            self.lose(True, self._flushes)
            self._flushes += 1
        if command.name == "read_perf_counters" and state.counters_enabled:
            self.events.append(("counters", (words[0] & BASE_MASK,)))

    def fault(self, program: int) -> MachineError | None:
        """The fault that ends a program, the one that came first."""
        if program not in self._first_faults:
            return None
        fault = self.work.faults[self._first_faults[program]]
        error = MachineError(status=Status(fault.status), pc=fault.pc, i=fault.i, j=fault.j)
        if error.status is Status.BUS_ERROR:
            error.client, error.address = BusClient(fault.client), fault.address
        return error


class RecordingState(State):
    """A state that tells the recorder of each command."""

    recorder: Recorder

    def apply(self, command: Command, words: Sequence[int]) -> None:
        super().apply(command, words)
        self.recorder.command(self, command, words)


class RecordingRun:
    """A program that records its wavefronts."""

    def __init__(self, recorder: Recorder, lanes: int, domain: Domain) -> None:
        self._recorder, self._lanes, self._given = recorder, lanes, 0
        self._pairs = (domain.i1 - domain.i0 + 1) * (domain.j1 - domain.j0 + 1)

    def add(self, wavefronts: DomainWavefronts) -> None:
        masks = wavefronts.covered().reshape(-1, self._lanes) @ (1 << np.arange(self._lanes))
        rows = np.stack([wavefronts.i, wavefronts.j, masks], axis=1)[masks != 0]
        self._recorder.events += [("wavefront", tuple(row)) for row in rows.tolist()]
        self._given += len(rows)

    def finish(self) -> MachineError | None:
        self._recorder.events.append(("walked", (self._pairs,)))
        if self._given:
            self._recorder.lose(False, self._recorder.programs - 1)
        return self._recorder.fault(self._recorder.programs - 1)


class RecordingCore:
    """An array that loads images, but runs nothing."""

    def __init__(self, recorder: Recorder, lanes: int) -> None:
        self._recorder, self.lanes = recorder, lanes
        self._image: Image | None = None

    def invalidate_program(self) -> None:
        self._image = None

    def _load(self, base: int) -> Image:
        try:
            return load(self._recorder.memory, base, "r5xx")
        except MachineError as error:
            # The hardware's loader leaves the code, which comes last, to the array.
            if error.status is not Status.BUS_ERROR or "code segment" not in error.detail:
                raise
            readable = copy.copy(self._recorder.memory)
            readable.error_ranges = []
            return load(readable, base, "r5xx")

    def stages(self, state: State, draws: DrawState, start: Start) -> Stages:
        raise NotImplementedError("draws are not recorded")

    def start(self, state: State) -> RecordingRun:
        if self._image is None:
            self._image = self._load(state.instruction_base)
            self._recorder.events.append(("image", (self._image.code, _plain(fields_of(self._image.information)))))
        if not state.conditional.format_is_legal:
            raise MachineError(status=Status.BAD_CONDITIONAL_FORMAT)
        uncached = fields_of(self._image.information)["UMRT"]["uncached_writes"]
        if uncached and state.outputs[0].format is not DataFormat.FLOAT32_1:
            raise MachineError(status=Status.BAD_UMRT_FORMAT)
        self._recorder.events.append(("starts", (state.conditional_value,)))
        self._recorder.programs += 1
        return RecordingRun(self._recorder, self.lanes, state.domain)


def _plain(information) -> tuple:
    return tuple((name, tuple(fields.items())) for name, fields in information.items())


def expected(work: Work, array: ArrayConfig, first_faults: dict[int, int]) -> list[Event]:
    """All events of the work; `first_faults` are the numbers of the faults that came first, by program."""
    recorder = Recorder(work, first_faults)
    processor = CommandProcessor(work.memory, RecordingCore(recorder, array.lanes), tiles=array.tiles)
    unit = HashedTests()
    unit.salt = work.salt
    processor.state = state = RecordingState(conditional=unit)
    state.recorder = recorder
    events, work.memory.lost = recorder.events, None
    for address, dwords in work.buffers:
        events.append(("buffer", ()))
        try:
            processor.run(address, dwords)
        except MachineError as error:
            events.append(("error", _error_fields(error)))
        events.append(("consumed", ()))
    return events


def _error_fields(error: MachineError) -> tuple[int, ...]:
    client = error.client.value if error.client is not None else 0
    numbers = (error.address, error.word, error.pc, error.i, error.j)
    return error.status.value, client, *(number or 0 for number in numbers)


def normalised(events: list[Event], memory: Memory) -> list[Event]:
    """The hardware's events as the reference has them: the image's contents for where it is, no numbers of clocks."""
    result = []
    for kind, values in events:
        if kind == "image":
            code, size, *information = values
            words = memory.words(code, INSTRUCTION_WORDS * size).tolist()
            assert len(information) == PROGRAM_INFORMATION_WORDS
            named = {
                name: unpack(layout, word)
                for (name, layout), word in zip(PROGRAM_INFORMATION.items(), information, strict=True)
            }
            instructions = tuple(
                tuple(words[at : at + INSTRUCTION_WORDS]) for at in range(0, len(words), INSTRUCTION_WORDS)
            )
            values = instructions, _plain(named)
        elif kind == "counters":
            address, clocks, active = values
            assert active <= clocks, "more active clocks than clocks"
            values = (address,)
        if kind != "fault":
            result.append((kind, values))
    return result


def first_faults(events: list[Event]) -> dict[int, int]:
    """The number of the fault that came first, by program."""
    found: dict[int, int] = {}
    for kind, values in events:
        if kind == "fault":
            found.setdefault(*values)
    return found

"""Compares a core with the golden model after every instruction of every wavefront."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ctm.rtl.isa.limits import CHANNELS, TEMPORARIES
from ctm.rtl.isa.r5xx.opcodes import FlowOperation, TextureOperation
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.sim.engines.tracing.beats import enables
from ctm.sim.engines.tracing.order import bits, in_order
from ctm.sim.golden.r5xx.instruction import Alu, Destination, Flow, Tex
from ctm.sim.golden.r5xx.state import BROKEN, CONTINUED, ENTERED
from ctm.tb.r5xx.golden_record import Record, Step, WavefrontRecord, record
from ctm.tb.r5xx.random_cases import Case, random_case
from ctm.tb.r5xx.simulation.simulation import CoreRun, CoreSimulation, ProtocolError, Timing

PROGRAMS = 80
"""Random programs of the ordinary suite."""
TIMINGS = (
    Timing(latency=1),
    Timing(latency=5, jitter=60),
    Timing(latency=30, stall=0.1),
    Timing(latency=150, jitter=7, stall=0.5),
)
_ORDER = ("start", "clear", "fetch_error", "fetch", "alu", "texture", "flow", "fault", "end")
MOST_CYCLES = 1_000_000
"""Of one run; the longest program that is drawn takes a tenth of it."""
_RGB, _ALPHA = slice(0, 3), slice(3, 4)


class Difference(Exception):  # noqa: N818
    """The core did something else than the model; the message says where and what."""


@dataclass(eq=False)
class _Wavefront:
    """What the trace has shown of the wavefront in a context."""

    wavefront: WavefrontRecord
    step: int = 0
    words: np.ndarray = field(default_factory=lambda: np.zeros((TEMPORARIES, CHANNELS, 0), np.uint32))
    known: np.ndarray = field(default_factory=lambda: np.zeros(TEMPORARIES, bool))
    fetches: deque[tuple[int, np.ndarray, Step]] = field(default_factory=deque)
    """Outstanding ones: register, which words are written, and the model's step."""


@dataclass(frozen=True)
class Comparison:
    """Compares one run; `listing` is shown with a difference."""

    lanes: int
    record: Record
    run: CoreRun

    def check(self) -> None:
        """Go through the trace.

        Raises
        ------
        Difference
            At the first one.
        """
        banks: dict[int, _Wavefront] = {}
        done = set()
        for kind, event in in_order({kind: self.run.events(kind) for kind in _ORDER}):
            number = int(event["context"])
            if kind == "start":
                if number in banks:
                    raise Difference(f"a wavefront takes context {number}, which another one has")
                banks[number] = self._start(event)
                continue
            if number not in banks:
                raise Difference(f"{kind} of context {number}, which has no wavefront")
            shown = banks[number]
            try:
                getattr(self, f"_{kind}")(shown, event)
            except Difference as difference:
                step = shown.wavefront.steps[shown.step - 1] if shown.step else None
                at = f"pc {step.pc}" if step else "the start"
                where = f"wavefront ({shown.wavefront.i}, {shown.wavefront.j}), {at}, cycle {int(event['cycle'])}"
                raise Difference(f"{where}: {difference}") from None
            if kind == "end":
                done.add((shown.wavefront.i, shown.wavefront.j))
                del banks[number]
        missing = self.record.wavefronts.keys() - done
        if missing:
            raise Difference(f"wavefronts that did not end: {sorted(missing)}")
        # What faults is not counted alike.
        if not self.run.faults and self.run.issued != self.record.issued:
            raise Difference(f"issued {self.run.issued}, expected {self.record.issued}")

    def _start(self, event: dict[str, Any]) -> _Wavefront:
        position = int(event["wavefront"]["i"]), int(event["wavefront"]["j"])
        if position not in self.record.wavefronts:
            raise Difference(f"a wavefront at {position}, outside the domain")
        wavefront = self.record.wavefronts[position]
        words = np.zeros((TEMPORARIES, CHANNELS, self.lanes), np.uint32)
        _same("coverage", bits(event["wavefront"]["covered"], self.lanes), wavefront.covered)
        return _Wavefront(wavefront, words=words)

    def _clear(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        if shown.step:
            raise Difference("a temporary is cleared while the wavefront runs")
        register = int(event["register"])
        shown.words[register] = event["words"].T
        shown.known[register : register + ROWS_TOGETHER] = True

    def _next(self, shown: _Wavefront, event: dict[str, Any], kind: type) -> Step:
        """The model's step that an event is to be."""
        if shown.step >= len(shown.wavefront.steps):
            raise Difference(f"executes pc {int(event['pc'])} where the model has stopped")
        step = shown.wavefront.steps[shown.step]
        shown.step += 1
        if step.pc != int(event["pc"]):
            raise Difference(f"executes pc {int(event['pc'])} where the model is at {step.pc}")
        if not isinstance(step.instruction, kind):
            raise Difference(f"executes as {kind.__name__} what is {type(step.instruction).__name__}")
        return step

    def _alu(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        step = self._next(shown, event, Alu)
        for register, channels in ((event["rgb_register"], _RGB), (event["alpha_register"], _ALPHA)):
            _write(shown.words[int(register)], event, channels)
        self._same_registers(shown, step)
        _same("predicates", bits(event["predicates"], CHANNELS * self.lanes), step.state("predicates").ravel())
        _same("the ALU result", bits(event["alu_result"], self.lanes), step.state("alu_result"))

    def _texture(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        step = self._next(shown, event, Tex)
        _same("the valid mask", bits(event["valid_mask"], self.lanes), step.state("valid_mask"))
        instruction = step.instruction
        assert isinstance(instruction, Tex)
        if instruction.operation not in (TextureOperation.NOP, TextureOperation.KILL_LT_0):
            register = _register(instruction.destination, step)
            shown.fetches.append((register, step.state("temporaries"), step))

    def _fetch_error(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        raise Difference("a fetch has an error response, of a memory that gives none")

    def _fetch(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        if not shown.fetches:
            raise Difference("words come back without a fetch")
        register, expected, step = shown.fetches.popleft()
        if register != int(event["register"]):
            raise Difference(f"a fetch writes r{int(event['register'])}, expected r{register}")
        _write(shown.words[register], event, slice(0, CHANNELS))
        waiting = {other for other, *_ in shown.fetches}
        later = shown.wavefront.steps[shown.step - 1] is not step
        if register < len(expected) and register not in waiting and not later:
            _same(f"r{register} after the fetch", shown.words[register], expected[register])
        elif register < len(expected):
            mask = _enables(event, slice(0, CHANNELS))
            _same(f"words of the fetch in r{register}", shown.words[register][mask], expected[register][mask])

    def _flow(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        step, state = self._next(shown, event, Flow), event["state"]
        snapshot = step.snapshot
        self._same_registers(shown, step)
        _same("pc", int(state["pc"]), snapshot.next_pc)
        _same("aL", int(state["loop_index"]), snapshot.loop_index)
        active, loop_inactive = step.state("active"), step.state("loop_inactive")
        _same("the active mask", bits(state["active"], self.lanes), active)
        _same("loop-inactive pixels", bits(state["loop_inactive"], self.lanes), loop_inactive)
        waiting = ~active & ~loop_inactive
        _same("branch counters", state["counters"][waiting], step.state("counter")[waiting])
        _same("the address stack", state["returns"][: int(state["return_depth"])].tolist(), list(snapshot.returns))
        self._same_frames(state, step)

    def _same_frames(self, state: dict[str, Any], step: Step) -> None:
        depth, frames = int(state["frame_depth"]), state["frames"]
        _same("the depth of the loop stack", depth, len(step.snapshot.kinds))
        masks = step.state("frames")
        for level, frame in enumerate(step.snapshot.kinds):
            found = tuple(int(frames[name][level]) for name in ("has_index", "iterations", "loop_index"))
            is_loop = frame.kind is FlowOperation.LOOP
            _same(f"loop frame {level}", found, (int(is_loop), frame.iterations, frame.loop_index))
            for name, mask in (("entered", ENTERED), ("broken", BROKEN), ("continued", CONTINUED)):
                _same(f"{name} of loop frame {level}", bits(frames[name][level], self.lanes), masks[level][mask])

    def _same_registers(self, shown: _Wavefront, step: Step) -> None:
        """All temporaries, but for those that fetches are still to write."""
        expected = step.state("temporaries")
        count = len(expected)
        if not shown.known[:count].all():
            raise Difference(f"r{int(shown.known[:count].argmin())} was not cleared")
        settled = np.ones(count, bool)
        settled[[register for register, *_ in shown.fetches if register < count]] = False
        found = shown.words[:count]
        wrong = settled & (found != expected).any(axis=(1, 2))
        if wrong.any():
            register = int(wrong.argmax())
            channel, lane = np.argwhere(found[register] != expected[register])[0]
            raise Difference(
                f"r{register}.{'rgba'[channel]} of lane {lane} is 0x{found[register, channel, lane]:08x}, "
                f"expected 0x{expected[register, channel, lane]:08x}"
            )

    def _fault(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        fault = shown.wavefront.fault
        if fault is None or shown.step < len(shown.wavefront.steps):
            raise Difference(f"faults at pc {int(event['pc'])}, where the model goes on")
        _same("pc of the fault", int(event["pc"]), fault[1])

    def _end(self, shown: _Wavefront, event: dict[str, Any]) -> None:
        _same("executed instructions", shown.step, len(shown.wavefront.steps))
        _same("fault", bool(event["faulted"]), shown.wavefront.fault is not None)
        if shown.fetches:
            raise Difference("the wavefront ends while fetches are outstanding")


def _enables(event: dict[str, Any], channels: slice) -> np.ndarray:
    """Which words an event writes, [channels, lanes]."""
    enabled = enables(event)
    chosen = np.zeros_like(enabled)
    chosen[channels] = enabled[channels]
    return chosen


def _write(target: np.ndarray, event: dict[str, Any], channels: slice) -> None:
    mask = _enables(event, channels)
    target[mask] = event["words"].T[mask]


def _register(destination: Destination, step: Step) -> int:
    return (destination.index + (step.snapshot.loop_index if destination.relative else 0)) % TEMPORARIES


def _same(what: str, found: Any, expected: Any) -> None:
    if not np.array_equal(found, expected):
        raise Difference(f"{what}: {_shown(found)}, expected {_shown(expected)}")


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return "".join("01"[int(bit)] for bit in value.ravel())
    if isinstance(value, np.ndarray) and value.dtype == np.uint32:
        return " ".join(f"{word:08x}" for word in value.ravel())
    return str(value)


def compare(simulation: CoreSimulation, case: Case, *, timing: Timing, max_cycles: int = MOST_CYCLES) -> Record:
    """Run a case on the core, for `max_cycles` at most, and on the golden model; the model's steps.

    Raises
    ------
    Difference
        At the first instruction, fault or byte of memory that is not as in the model.
    """
    launch, wavefronts = case.launch()
    run = simulation.run(launch, wavefronts, timing=timing, max_cycles=max_cycles, trace=True)
    launch, wavefronts = case.launch()
    expected = record(launch, wavefronts)
    Comparison(case.lanes, expected, run).check()
    _same_faults(expected, run)
    address = run.difference(launch.memory)
    if address is not None:
        raise Difference(f"memory differs at 0x{address:08x}")
    return expected


def check_cases(simulation: CoreSimulation, seeds: Iterable[int], timings: Sequence[Timing]) -> None:
    """Compare random programs, each with the next timing; fail at the first difference, showing the program."""
    for seed in seeds:
        case = random_case(seed, lanes=simulation.config.array.lanes)
        timing = replace(timings[seed % len(timings)], seed=seed)
        try:
            compare(simulation, case, timing=timing)
        except (Difference, TimeoutError, ProtocolError) as difference:
            text = f"seed {seed}, {case.lanes} lanes, {timing}: {difference}"
            raise AssertionError(f"{text}\n{case.listing()}") from None


def _same_faults(expected: Record, run: CoreRun) -> None:
    """Statuses by wavefront; of several in one cycle a core reports one."""
    for fault in run.faults:
        wavefront = expected.wavefronts[fault.i, fault.j]
        _same(f"the fault of wavefront ({fault.i}, {fault.j})", (fault.status, fault.pc), wavefront.fault)
    some = any(wavefront.fault for wavefront in expected.wavefronts.values())
    _same("whether there is a fault", bool(run.faults), some)

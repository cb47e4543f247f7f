"""Reads what a core of R5xx showed of a wavefront."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.sim.compiled.fields import Fields
from ctm.sim.debug.hardware.moment import Arrays, Moment, Recording
from ctm.sim.engines.tracing.beats import enables, whole
from ctm.sim.engines.tracing.order import bits, in_order
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.r5xx.instruction import Tex
from ctm.sim.golden.r5xx.program import Program

_FRAME = ("entered", "broken", "continued")
_ALPHA = 3


@dataclass
class _Step:
    """An instruction: the words that it wrote, [channels, lanes] with a mask, and other state after it."""

    moment: Moment
    writes: list[tuple[int, npt.NDArray[Any], npt.NDArray[np.bool_]]] = field(default_factory=list)


class _Reader:
    def __init__(self, program: Program, start: Batch[Any]) -> None:
        self._program, self._lanes = program, start.size
        self._arrays: Arrays = {
            name: getattr(start, name).copy()
            for name in ("predicates", "alu_result", "valid_mask", "active", "loop_inactive", "counter")
        }
        self._frames: list[npt.NDArray[Any]] = []
        self._outstanding: deque[_Step] = deque()
        self.steps: list[_Step] = []

    def _step(self, event: Fields) -> _Step:
        moment = Moment(int(event["cycle"]), int(event["pc"]))
        self.steps.append(_Step(moment))
        return self.steps[-1]

    def _keep(self, step: _Step) -> None:
        step.moment.arrays, step.moment.frames = dict(self._arrays), list(self._frames)

    def alu(self, event: Fields) -> None:
        """An ALU or OUTPUT instruction has written."""
        step = self._step(event)
        enable = enables(event)
        for name, channels in (("rgb_register", slice(0, _ALPHA)), ("alpha_register", slice(_ALPHA, CHANNELS))):
            mask = np.zeros_like(enable)
            mask[channels] = enable[channels]
            step.writes.append((int(event[name]), event["words"].T.copy(), mask))
        self._arrays["predicates"] = bits(event["predicates"], CHANNELS * self._lanes).reshape(CHANNELS, -1)
        self._arrays["alu_result"] = bits(event["alu_result"], self._lanes)
        self._keep(step)

    def texture(self, event: Fields) -> None:
        """A fetch or NOP was issued, or a kill is done."""
        step = self._step(event)
        self._arrays["valid_mask"] = bits(event["valid_mask"], self._lanes)
        self._keep(step)
        instruction = self._program.code.instructions[step.moment.pc]
        assert isinstance(instruction, Tex)
        if instruction.operation not in (TextureOperation.NOP, TextureOperation.KILL_LT_0):
            self._outstanding.append(step)

    def fetch(self, event: Fields) -> None:
        """A fetch has written its register: it counts as written by its instruction, whenever it comes."""
        step = self._outstanding.popleft()
        step.writes.append((int(event["register"]), event["words"].T.copy(), enables(event)))

    def fetch_error(self, event: Fields) -> None:
        """A fetch had an error response, and its instruction writes nothing."""
        del event
        self._outstanding.popleft()

    def flow(self, event: Fields) -> None:
        """A flow-control instruction is done."""
        step, state, lanes = self._step(event), event["state"], self._lanes
        self._arrays["active"] = bits(state["active"], lanes)
        self._arrays["loop_inactive"] = bits(state["loop_inactive"], lanes)
        self._arrays["counter"] = state["counters"].astype(np.int8)
        frames = state["frames"]
        depth = int(state["frame_depth"])
        self._frames = [np.stack([bits(frames[name][level], lanes) for name in _FRAME]) for level in range(depth)]
        self._keep(step)


def recording(program: Program, start: Batch[Any], events: Mapping[str, Fields]) -> Recording:
    """What the trace of a wavefront's core says of the wavefront.

    `events` begin with its start, and end before another wavefront takes its context.
    """
    events = {kind: whole(fields) for kind, fields in events.items()}
    begin = events["start"]
    context = int(begin["context"][0])
    reader = _Reader(program, start)
    for kind, event in in_order(events):
        if int(event["context"]) != context:
            continue
        if kind in ("alu", "texture", "fetch_error", "fetch", "flow"):
            getattr(reader, kind)(event)
    words = start.temporaries.view(np.uint32).copy()
    for step in reader.steps:
        for register, values, mask in step.writes:
            if register < len(words):
                words[register][mask] = values[mask]
        step.moment.arrays["temporaries"] = words.copy().view(np.float32)
    return Recording([step.moment for step in reader.steps], int(begin["cycle"][0]))

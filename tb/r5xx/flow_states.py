"""Random control states of wavefronts, for the golden model and packed for the hardware."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.limits import ADDRESS_STACK, LOOP_STACK
from ctm.rtl.isa.r5xx.opcodes import FlowOperation
from ctm.rtl.r5xx.state import control_state_layout
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch, Control, Frame


def random_control(generator: np.random.Generator, kinds: Sequence[FlowOperation], full: bool) -> Control:
    """Control state of a program somewhere in its middle; the innermost loop is one of `kinds`."""
    depth = int(generator.integers(0, LOOP_STACK + 1)) if full else 0
    frames = tuple(
        Frame(kinds[int(generator.integers(len(kinds)))], int(generator.choice([1, 2, 255])),
              int(generator.integers(512)))
        for _ in range(depth)
    )  # fmt: skip
    returns = tuple(int(generator.integers(512)) for _ in range(generator.integers(0, ADDRESS_STACK + 1) * full))
    return Control(int(generator.integers(500)), int(generator.integers(512)), frames, returns)


def randomise(batch: Batch, control: Control, generator: np.random.Generator, limit: int) -> None:
    """Give a batch this control state and its lanes any state that fits it."""
    size = batch.size
    batch.control = control
    # Active, branch-inactive, loop-inactive: of each wavefront some kinds are rare.
    weights = generator.dirichlet([0.5, 0.5, 0.3], batch.wavefronts)
    kind = (generator.random(size)[:, None] > np.repeat(weights.cumsum(axis=1), batch.lanes, axis=0)).sum(axis=1)
    batch.loop_inactive = kind == 2
    batch.set_active(kind == 0)
    batch.counter[:] = np.minimum(generator.geometric(0.4, size) - 1, limit)
    batch.counter[generator.random(size) < 0.02] = limit
    batch.valid_mask = generator.random(size) < 0.8
    batch.covered = generator.random(size) < 0.8
    batch.alu_result = generator.integers(2, size=size).astype(bool)
    batch.predicates = generator.integers(2, size=(CHANNELS, size)).astype(bool)
    batch.frames = [generator.random((3, size)) < [[0.8], [0.3], [0.3]] for _ in control.frames]


@dataclass(frozen=True)
class Lanes:
    """Masks of wavefronts as integers, lane 0 in bit 0."""

    lanes: int

    def pack(self, mask: np.ndarray) -> list[int]:
        """One integer for each wavefront."""
        weights = 1 << np.arange(self.lanes, dtype=np.int64)
        return [int(row @ weights) for row in mask.reshape(-1, self.lanes).astype(np.int64)]


def pack_states(batch: Batch) -> list[int]:
    """Each wavefront's control state as the hardware has it."""
    layout = control_state_layout(batch.lanes)
    lanes, control = Lanes(batch.lanes), batch.control
    active, loop_inactive = lanes.pack(batch.active), lanes.pack(batch.loop_inactive)
    frames = [[lanes.pack(mask) for mask in masks] for masks in batch.frames]
    counters = batch.counter.reshape(-1, batch.lanes).tolist()
    states = []
    for wavefront in range(batch.wavefronts):
        entries = [
            {
                "has_index": int(frame.kind is FlowOperation.LOOP),
                "iterations": frame.iterations,
                "loop_index": frame.loop_index,
                **{name: masks[row][wavefront] for row, name in enumerate(("entered", "broken", "continued"))},
            }
            for frame, masks in zip(control.frames, frames, strict=True)
        ]
        constant = layout.const(
            {
                "pc": control.pc,
                "loop_index": control.loop_index,
                "active": active[wavefront],
                "loop_inactive": loop_inactive[wavefront],
                "counters": [max(counter, 0) for counter in counters[wavefront]],
                "frame_depth": len(entries),
                "frames": entries,
                "return_depth": len(control.returns),
                "returns": list(control.returns),
            }
        )
        states.append(constant.as_bits())
    return states


def meaning(layout: data.StructLayout, bits: int, lanes: int) -> dict[str, object]:
    """What of a control state means something: stacks up to their depth, counters of branch-inactive lanes."""
    state = layout.from_bits(bits)
    waiting = [not (state.active | state.loop_inactive) >> lane & 1 for lane in range(lanes)]
    frames = [state.frames[entry] for entry in range(state.frame_depth)]
    return {
        "pc": state.pc,
        "loop_index": state.loop_index,
        "active": state.active,
        "loop_inactive": state.loop_inactive,
        "counters": [state.counters[lane] if waiting[lane] else None for lane in range(lanes)],
        "frames": [(f.has_index, f.iterations, f.loop_index, f.entered, f.broken, f.continued) for f in frames],
        "returns": [state.returns[entry] for entry in range(state.return_depth)],
    }


def start(program: Program, wavefronts: int, lanes: int) -> Batch:
    """Wavefronts at the program's start."""
    zeros = np.zeros(wavefronts * lanes, np.int64)
    return Batch.start(
        program, lanes, np.arange(wavefronts), zeros, zeros, np.ones(wavefronts * lanes, bool),
        np.zeros(wavefronts * lanes, np.float32),
    )  # fmt: skip

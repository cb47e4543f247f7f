"""Steps a wavefront of the hardware beside the golden model's."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ctm.sim.compiled.fields import Fields
from ctm.sim.debug.hardware.moment import Recording
from ctm.sim.debug.hardware.signals import Signals
from ctm.sim.debug.hardware.wavefront import HardwareWavefront
from ctm.sim.debug.slicing.cell import as_bits
from ctm.sim.golden.dpp.batch import Batch
from ctm.tb.debug.slicing.launches import ChosenLane

_STATE = ("temporaries", "previous", "valid_mask", "active", "loop_inactive", "predicates", "alu_result", "branch_mask",
          "continue_mask", "break_mask")  # fmt: skip


def same(mine: Batch[Any], its: Batch[Any]) -> None:
    """Registers, masks and the masks on the stack are the same bits."""
    for name in _STATE:
        if hasattr(mine, name):
            np.testing.assert_array_equal(as_bits(getattr(mine, name)), as_bits(getattr(its, name)), name)
    assert len(mine.frames) == len(its.frames)
    for frame, other in zip(mine.frames, its.frames, strict=True):
        np.testing.assert_array_equal(frame, other)


def compare(chosen: ChosenLane, record: Callable[[Batch[Any]], Recording]) -> None:
    """Step through a wavefront, and go back by 1, 10 and 1,000 instructions; every state is the golden model's."""
    model, hardware = chosen.wavefront(), HardwareWavefront(chosen.wavefront(), record, _unseen)
    while not model.is_over:
        model.advance()
        hardware.advance()
        same(hardware.batch, model.batch)
    assert hardware.has_ended
    assert len(hardware.recording.moments) == model.step
    cycles = [moment.cycle for moment in hardware.recording.moments]
    assert cycles == sorted(cycles)
    assert hardware.step_at(cycles[-1]) == model.step
    for count in (1, 10, 1000):
        step = max(0, model.step - count)
        model.back_to(step)
        hardware.back_to(step)
        assert hardware.step == step
        same(hardware.batch, model.batch)


def _unseen(cycle: int) -> Signals:
    raise AssertionError(f"the signals of cycle {cycle} were asked for")


def between(events: Mapping[str, Fields], first: int, last: int) -> dict[str, Fields]:
    """Events of the cycles from one to another."""
    chosen = {kind: (fields["cycle"] >= first) & (fields["cycle"] <= last) for kind, fields in events.items()}
    return {kind: _chosen(fields, chosen[kind]) for kind, fields in events.items()}


def _chosen(fields: Fields, mask: np.ndarray) -> Fields:
    return {name: _chosen(value, mask) if isinstance(value, dict) else value[mask] for name, value in fields.items()}

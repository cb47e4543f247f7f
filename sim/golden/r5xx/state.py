"""State of R5xx wavefronts: control state of a wavefront, and state of a lane."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.opcodes import FlowOperation
from ctm.sim.golden.dpp import batch as dpp
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.scoreboard import Scoreboard

NO_COUNTER = 0
ENTERED, BROKEN, CONTINUED = range(3)
"""Rows of a loop frame's masks: active when it was pushed, removed by BREAK, waiting after CONTINUE."""


class Frame(NamedTuple):
    """What a loop frame holds for the wavefront as a whole."""

    kind: FlowOperation
    iterations: int
    loop_index: int
    """aL as it was before the loop."""


class Control(NamedTuple):
    """Control state that all wavefronts of a batch share."""

    pc: int
    loop_index: int = 0
    frames: tuple[Frame, ...] = ()
    returns: tuple[int, ...] = ()

    @property
    def position(self) -> int:
        """Code is executed upward but for jumps."""
        return self.pc


@dataclass(slots=True, eq=False, kw_only=True)
class Batch(dpp.Batch[Control]):
    """A batch of R5xx wavefronts; `frames` are those of loops, [3, n]: ENTERED, BROKEN, CONTINUED.

    A lane is active, or branch-inactive with a counter, or loop-inactive (after a BREAK or CONTINUE).
    """

    LANE_ARRAYS = (*dpp.Batch.LANE_ARRAYS, "loop_inactive", "counter", "predicates", "alu_result")

    loop_inactive: Mask
    counter: npt.NDArray[np.int8]
    """Branch counter, meaningful for branch-inactive lanes only, [n]."""
    predicates: Mask
    """[4, n]."""
    alu_result: Mask
    outstanding: Scoreboard = Scoreboard()
    """Kept where hazards are watched only."""

    @staticmethod
    def start(
        program: Program, lanes: int, order: Integers, i: Integers, j: Integers, covered: Mask, conditional: Floats
    ) -> "Batch":
        """Wavefronts at the program's start."""
        size = i.size
        return Batch(
            control=Control(program.start),
            loop_inactive=np.zeros(size, bool),
            counter=np.full(size, NO_COUNTER, np.int8),
            predicates=np.zeros((CHANNELS, size), bool),
            alu_result=np.zeros(size, bool),
            **dpp.at_start(
                temporaries=program.temporaries,
                outputs=len(program.outputs),
                lanes=lanes,
                order=order,
                i=i,
                j=j,
                covered=covered,
                conditional=conditional,
            ),
        )

    def lane_states(self) -> list[str]:
        """A: active; b: inactive by a branch; l: by a BREAK or CONTINUE."""
        return list(np.where(self.active, "A", np.where(self.loop_inactive, "l", "b")).tolist())

    def _beside(self, batches: Sequence[Self]) -> dict[str, Any]:
        return {"outstanding": reduce(or_, (batch.outstanding for batch in batches))}

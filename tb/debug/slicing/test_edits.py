"""`why` after something was set by hand: it explains what the wavefront then did, and leaves the session as it was."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.debug.session import Session
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.tb.debug.jobs import program, session_of

ROUNDS = """
; Ends the sooner, the greater r2.r is at the start.
ALU r1.r = MOV(r0.r)
REP i0
    ALU r2.r, p.r[>=0] = ADD(r2.r, c0.b)
    BREAK if p.r
ENDREP
ALU r2.g = ADD(r2.r, c0.b)
OUT o0 = MOV(r2)
"""
ADDED = """
ALU r1.r = MOV(r0.r)
ALU r1.g = MOV(r0.r)
ALU r2.rg = ADD(r2.rr0, c0.bb0)
OUT o0 = MOV(r2)
"""
SET = np.float32(-3).view(np.uint32)


@pytest.mark.parametrize("source", [ROUNDS, ADDED], ids=["rounds", "added"])
def test_an_element_is_explained_with_the_value_that_was_set(source: str, tmp_path: Path) -> None:
    with session_of(program(source, tmp_path)) as session:
        _finish_with(session, step=2)
        element, here = session.value("o0[0,0]").numbers[:, 0].copy(), session.position
        rows = list(why(session, "o0[0,0]").rows(everything=True))
        assert f"o0.r = {element[0]:.9g}, o0.g = {element[1]:.9g}" in rows[0]
        assert any("r2.r = -3" in row for row in rows)
        assert session.position == here and np.array_equal(session.value("o0[0,0]").numbers[:, 0], element)


def test_a_register_is_still_set_after_an_element_was_explained(tmp_path: Path) -> None:
    with session_of(program(ROUNDS, tmp_path)) as session:
        _finish_with(session, step=1)
        after = session.value("r2").words.copy()
        why(session, "o0[0,0].g")
        assert np.array_equal(session.value("r2").words, after)
        session.go_to(Position(0, 0, 1))
        assert session.value("r2.r").numbers[0, 0] == -3


def _finish_with(session: Session, *, step: int) -> None:
    """The first wavefront to its end, where r2.r was set in all lanes before an instruction."""
    session.step(step)
    session.set("r2", "r", int(SET), range(session.wavefront.batch.size))
    session.finish()

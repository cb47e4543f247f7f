"""Breakpoints at source lines of compiled programs, and of programs that run later."""

import pytest

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.stopping.locations import stop_at
from ctm.tb.debug.jobs import example, session_of


@pytest.mark.parametrize("name", ["mandelbrot/mandelbrot_py", "r700/mandelbrot/mandelbrot_c", "blur/blur_py"])
def test_every_line_with_code_has_a_breakpoint(name: str) -> None:
    """On R700 the slots of a group may be of several lines, some of which begin with no instruction of their own."""
    with session_of(example(name)) as session:
        units, lines = session.code.units, session.code.executable.lines
        ends = dict(zip(units, [*units[1:], len(lines.units)], strict=True))
        for line in {each for each in lines.units if each is not None}:
            stop = stop_at(session, str(line))
            assert stop.units
            for unit in stop.units:
                assert line in {lines.at(each) for each in range(unit, ends[unit])}


def test_a_line_of_a_later_program_stops_when_that_runs() -> None:
    with session_of(example("r700/compaction/compaction")) as session:
        stop = stop_at(session, "scatter.s:1 if i == 2")
        assert not stop.units
        assert session.go_on().stop is stop
        assert session.code.name == "scatter.s" and session.position.launch == 10
        assert session.wavefront.batch.i[session.lane] == 2
        session.restart()
        assert session.go_on().stop is stop
        with pytest.raises(DebugError, match=r"there is no file scater.s; did you mean scatter.s\?"):
            stop_at(session, "scater.s:1")

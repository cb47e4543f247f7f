"""What is seen of a run adds up to what the machine counted."""

from collections.abc import Sequence

from ctm.sim.engines.engine import Report
from ctm.sim.engines.seen import Seen
from ctm.sim.profile.figures import ACCESSES
from ctm.sim.profile.profile import ProgramProfile


def check_sums(seen: Seen, found: Sequence[ProgramProfile], report: Report) -> None:
    """Issues, lanes and accesses to both levels of the input cache; wave slots that have a wavefront do something."""
    assert sum(int(row["issues"]) for row in seen.rows) == report.instructions
    assert sum(int(row["active"]) for row in seen.rows) == report.lane_instructions
    for name in ACCESSES:
        counter = name if name.startswith("shared") else f"input_{name}"
        assert int(seen.rows[name].sum()) == report.counters[counter]
        # Each instruction of a program, and so each line.
        assert sum(getattr(program.figures, name) for program in found) == report.counters[counter]
    for program in found:
        figures, residency = program.figures, program.residency
        assert residency is not None and residency.exposed <= residency.cycles <= residency.occupied
        assert figures.from_memory <= residency.most_from_memory
    assert int(seen.rows["waited"].sum()) == int(seen.residencies["occupied"].sum())

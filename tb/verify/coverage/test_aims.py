"""Programs that are drawn for cells of coverage execute what these cells name."""

from collections import Counter
from collections.abc import Iterable

from ctm.tb.r5xx.golden_record import record
from ctm.tb.r700.hardware.golden_record import record as record_r700
from ctm.tb.verify.coverage.aims import aims
from ctm.tb.verify.draws import events as draw_events
from ctm.tb.verify.draws.drawn import SHARE, sheet
from ctm.tb.verify.r5xx import events as r5xx_events
from ctm.tb.verify.r5xx.aimed import aimed_case
from ctm.tb.verify.r700 import events as r700_events
from ctm.tb.verify.r700.aimed import aimed_job
from ctm.tb.verify.r700.program import code_of

_PROGRAMS, _CELLS = 6, 16


def cells_of(table: str, events: Iterable[str]) -> set[str]:
    """The cells of a table among events."""
    return {event.removeprefix(f"{table}|") for event in events if event.startswith(f"{table}|")}


def test_consecutive_programs_go_through_all_cells() -> None:
    cells = [f"cell {number}" for number in range(100)]
    found = Counter(cell for number in range(25) for cell in aims(cells, number, 12))
    assert found == dict.fromkeys(cells, 3)
    assert aims(cells, 4, 12) == aims(cells, 4 + 25, 12) != aims(cells, 5, 12)


def test_an_r5xx_program_has_its_cells() -> None:
    table = r5xx_events.OPERATIONS
    cells = r5xx_events.tables()[table]
    complete = 0
    for number in range(_PROGRAMS):
        wanted = aims(cells, number, _CELLS)
        made, wavefronts = aimed_case(number, wanted, lanes=4).launch()
        found = cells_of(table, r5xx_events.events(made, record(made, wavefronts)))
        complete += found >= set(wanted)
    # A watchdog may end one early.
    assert complete >= _PROGRAMS - 1


def test_an_r700_program_has_its_cells_but_those_that_are_illegal() -> None:
    table = r700_events.OPERATIONS
    cells = r700_events.tables()[table]
    missing = set()
    for number in range(_PROGRAMS):
        wanted = aims(cells, number, _CELLS)
        job = aimed_job(number, wanted)
        _, records = record_r700(job.on(16))
        missing |= set(wanted) - cells_of(table, r700_events.events(job, code_of(job.program), records.values()))
    assert all(cell.startswith("MOVA") and "relative" in cell for cell in missing), missing


def test_a_sheet_has_its_primitive_and_its_indices() -> None:
    cells = draw_events.tables()[draw_events.PRIMITIVES]
    for number in range(0, len(cells), 4):
        case = sheet(SHARE * number + SHARE - 1)
        assert [draw_events.primitive_of(case)] == aims(cells, number, 1)

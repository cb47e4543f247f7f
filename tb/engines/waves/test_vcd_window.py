"""A window of a VCD begins with every value, and has the changes inside."""

import errno
import io

from ctm.sim.engines.waves.vcd_window import VcdWindow

HEAD = '$timescale 1 fs $end\n$var wire 1 ! a $end\n$var wire 4 " b $end\n$enddefinitions $end\n'
CHANGES = '#0\n$dumpvars\n0!\nb0 "\n$end\n#10\n1!\n#20\nb11 "\n#30\n0!\n#40\nb1 "\n'


def window(first: int, cycles: int | None, *, started: int = 0) -> str:
    target = io.StringIO()
    text = VcdWindow(target, first=first, cycles=cycles, period=10)
    text.start(started)
    # As a writer does: chunks that are no lines.
    for start in range(0, len(HEAD + CHANGES), 7):
        text.write((HEAD + CHANGES)[start : start + 7])
    text.end(50)
    assert target.getvalue().startswith(HEAD)
    return target.getvalue().removeprefix(HEAD)


def test_values_from_before_are_at_its_begin() -> None:
    assert window(2, 1) == '#20\n$dumpvars\n1!\nb0 "\n$end\n#20\nb11 "\n#30\n'.replace("#20\nb11", "b11")


def test_without_cycles_it_has_no_end() -> None:
    assert window(3, None) == '#30\n$dumpvars\n1!\nb11 "\n$end\n0!\n#40\nb1 "\n#50\n'


def test_cycles_count_from_the_start() -> None:
    assert window(1, 1, started=20) == '#30\n$dumpvars\n1!\nb11 "\n$end\n0!\n#40\n'


def test_a_window_that_does_not_come_has_definitions_only() -> None:
    assert window(9, None) == ""


def test_a_target_that_is_full_is_a_number() -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "full")

    text = VcdWindow(Full(), first=0, cycles=None, period=10)
    text.write(HEAD + CHANGES)
    assert text.problem == errno.ENOSPC

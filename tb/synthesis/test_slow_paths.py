"""Slow paths of a routed netlist: delays as nextpnr writes them, and what adds up to them."""

from graphlib import CycleError
from pathlib import Path

import pytest

from ctm.sim.synthesis.report import SlowPaths
from ctm.sim.synthesis.timing.delays import read_delays
from ctm.sim.synthesis.timing.slow_paths import slow_paths

WIRES = {
    "count_TRELLIS_FF_Q/Q": {"a/A": 1000, "carry\\$CCU2_COMB0/A": 300},
    "a/F": {"sum_TRELLIS_FF_Q_1/DI": 500, "unused/A": 9000},
    "carry\\$CCU2_COMB0/FCO": {"carry\\$CCU2_COMB1/FCI": 0},
    "carry\\$CCU2_COMB1/F": {"sum_TRELLIS_FF_Q_2/DI": 700},
    "rows.0.1/DOA0": {"b/B": 2000},
    "b/F": {"rows.0.2/ADA3": 2100},
    "pin/O": {"flag/DI": 50_000},
}
CELLS = {
    "a": ("IOPATH A F", 240),
    "b": ("IOPATH B F", 240),
    "carry\\$CCU2_COMB0": ("IOPATH A FCO", 450),
    "carry\\$CCU2_COMB1": ("IOPATH FCI F", 440),
    "count_TRELLIS_FF_Q": ("IOPATH CLK Q", 530),
    "rows.0.1": ("IOPATH CLKB DOA0", 5800),
}
SETUPS = {
    "sum_TRELLIS_FF_Q_1": ("DI", 0), "sum_TRELLIS_FF_Q_2": ("DI", 0), "rows.0.2": ("ADA3", 250), "flag": ("DI", 0)
}  # fmt: skip


class Plain:
    """Names of flip-flops are those of their nets."""

    def name(self, cell: str) -> str:
        """A register's bit, or a memory's cell."""
        net, found, bit = cell.partition("_TRELLIS_FF_Q")
        return f"{net}[{bit.removeprefix('_') or 0}]" if found else f"{cell} (DP16KD)"


def triple(delay: int) -> str:
    """The fastest, a typical one and the slowest, of which the last counts."""
    return f"({delay // 2}:{delay - 1}:{delay})"


def sdf(wires: dict[str, dict[str, int]] = WIRES) -> str:
    """A file as nextpnr writes it."""
    lines = ['(DELAYFILE\n  (SDFVERSION "3.0")', '  (CELL\n    (CELLTYPE "top")\n    (INSTANCE )']
    for driver, inputs in wires.items():
        lines += [
            f"        (INTERCONNECT {driver} {pin} {triple(delay)} {triple(delay)})" for pin, delay in inputs.items()
        ]
    for cell, (path, delay) in CELLS.items():
        lines += [f'  (CELL\n    (CELLTYPE "X")\n    (INSTANCE {cell})', f"  ({path} {triple(delay)} (0:0:0))"]
    for cell, (pin, setup) in SETUPS.items():
        lines.append(f'  (CELL\n    (CELLTYPE "X")\n    (INSTANCE {cell})')
        lines += [
            f"      (SETUPHOLD ({edge} {pin}) (posedge CLK) {triple(setup)} (267:285:303))"
            for edge in ("posedge", "negedge")
        ]
    return "\n".join(lines) + "\n)\n"


def found_in(folder: Path, text: str) -> tuple[SlowPaths, ...]:
    (folder / "delays.sdf").write_text(text)
    return slow_paths(read_delays(folder / "delays.sdf"), Plain())


def test_delays_are_the_slowest_of_each_triple(tmp_path: Path) -> None:
    (tmp_path / "delays.sdf").write_text(sdf())
    delays = read_delays(tmp_path / "delays.sdf")
    assert delays.wires["carry$CCU2_COMB0/A"] == ("count_TRELLIS_FF_Q/Q", 0.3)
    assert delays.cells["carry$CCU2_COMB1/F"] == [("carry$CCU2_COMB1/FCI", 0.44)]
    assert delays.starts == {"count_TRELLIS_FF_Q/Q": 0.53, "rows.0.1/DOA0": 5.8}
    assert delays.ends["rows.0.2/ADA3"] == 0.25


def test_the_slowest_path_is_the_sum_of_its_delays(tmp_path: Path) -> None:
    (path,) = found_in(tmp_path, sdf())
    # What comes from a pin has no clock's edge.
    assert (path.start, path.end, path.ends, path.levels) == ("rows (DP16KD)", "rows (DP16KD)", 1, 1)
    assert path.delay == pytest.approx(5.8 + 2.0 + 0.24 + 2.1 + 0.25)
    assert path.routing == pytest.approx(2.0 + 2.1)


def test_paths_between_two_registers_are_one_line(tmp_path: Path) -> None:
    near = {driver: pins for driver, pins in WIRES.items() if not driver.startswith("rows")}
    (path,) = found_in(tmp_path, sdf(near | {"a/F": {"sum_TRELLIS_FF_Q_1/DI": 600}}))
    assert (path.start, path.end, path.ends) == ("count", "sum", 2)
    # Of the two the carry chain's is the slower one; the chain is one level.
    assert path.delay == pytest.approx(0.53 + 0.3 + 0.45 + 0.0 + 0.44 + 0.7)
    assert path.levels == 1
    assert path.routing == pytest.approx(1.0)
    (only,) = found_in(tmp_path, sdf(near | {"a/F": {"sum_TRELLIS_FF_Q_1/DI": 300}}))
    # Less than nine tenths of the longest.
    assert only.ends == 1


def test_a_loop_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(CycleError):
        found_in(tmp_path, sdf(WIRES | {"a/F": {"a/A": 100}}))


def test_a_file_without_wires_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"delays\.sdf has no delay of a wire"):
        found_in(tmp_path, sdf({}))

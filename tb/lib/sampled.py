"""Cases of tests that have many of them: the ordinary suite runs some, --long all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

_LEAST = 4
"""Cases of a test that is sampled."""
_TOP = Path(__file__).resolve().parents[1]
_SECOND = """
    co/test_timing compiled/test_unit compiler/test_kernels compiler/test_r5xx_kernels compiler/test_special_values
    dpp/test_scheduler draws/test_directed draws/test_recorded fast/test_auto fast/test_threads
    fast/test_vector_arithmetic fast/test_vector_memory fp/test_compiled_units fp/test_multiply_add
    mc/test_write_combiner pa/test_rasterizer r700/hardware/test_programs
"""
_THIRD = """
    assembler/r700/test_groups assembler/r700/test_round_trip assembler/r700/test_support cli/test_missing_packages
    cli/test_signals co/test_unit compiler/test_r5xx_integers debug/slicing/test_planted dpp/test_coordinates
    dpp/test_retirement draw/test_interlock golden/r700/test_formulas lib/test_arbiter mc/test_bus_reader
    mc/test_bus_writer mc/test_elements mc/test_outputs mc/test_ports mc/test_reorder_buffer pe/test_fetcher
    pe/test_loader pe/test_processor pe/test_walker r5xx/code/test_reader r5xx/simulation/test_memory
    r700/hardware/test_write_assembler
"""
RATES: Mapping[Path, int] = {
    _TOP / f"{name}.py": rate for rate, names in ((2, _SECOND), (3, _THIRD)) for name in names.split()
}
"""Files whose many cases take long together, and of how many of them one is ordinary."""


def mark(items: Iterable[pytest.Item], rates: Mapping[Path, int]) -> None:
    """In the files of `rates`, mark as long all cases of a test but the first of so many.

    A test with few cases keeps them all. Cases that are long already do not count.
    """
    functions = [
        (item, rates[item.path])
        for item in items
        if item.path in rates and isinstance(item, pytest.Function) and not item.get_closest_marker("long")
    ]
    cases = Counter((item.path, item.originalname) for item, _ in functions)
    seen: Counter[tuple[Path, str]] = Counter()
    for item, rate in functions:
        name = item.path, item.originalname
        if cases[name] >= _LEAST and seen[name] % rate:
            item.add_marker(pytest.mark.long)
        seen[name] += 1

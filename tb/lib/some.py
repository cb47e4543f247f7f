"""Selections from long lists of cases for the quick suite."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

_LEAST = 4
"""Cases of a test that is sampled."""
ALL_CASES = "CTM_ALL_CASES"
"""A variable of the environment. If it is 1, tests have all their cases, as with --long and on mutants."""
_TOP = Path(__file__).resolve().parents[1]
_OFTEN = """
    assembler/r700/test_random_programs board/test_bridge cli/test_cli cli/test_comfort compiled/test_cases
    compiler/python/test_discard compiler/python/test_division compiler/python/test_values compiler/test_kernels
    compiler/test_r5xx_kernels compiler/test_r5xx_loops compiler/test_r700_arrays compiler/test_special_values
    debug/hardware/test_batches debug/hardware/test_recordings debug/slicing/test_names
    debug/slicing/test_recomputation dpp/test_constant_loader dpp/test_output_registers dpp/test_placement
    dpp/test_retirement dpp/test_scheduler dpp/test_watchdog draws/test_directed draws/test_hardware
    explore/test_response fast/r700/test_mutants fast/r700/test_programs fast/r700/test_random_flow
    fast/r700/test_random_groups fast/test_auto fast/test_cache fast/test_directed fast/test_examples
    fast/test_programs fast/test_threads fast/test_vector_arithmetic fast/test_vector_memory fp/test_multiply_add
    fp/test_simulated_units golden/test_fp_twins lib/test_clock_gating lib/test_shared_client mc/test_input_cache
    mc/test_line_cache mc/test_line_tags mc/test_port_faults mc/test_shared_cache pa/test_rasterizer
    pe/test_dispatcher pe/test_program_formats r5xx/alu/test_uncached_pairs r700/hardware/test_programs
    r700/parts/test_draw_decoding r700/test_faults_fetch r700/test_groups_random split/test_planes
    system/test_examples system/test_kernel_examples system/test_r700_examples vgt/test_store
"""
_SELDOM = """
    assembler/r700/test_any_text assembler/r700/test_groups assembler/r700/test_packing
    assembler/r700/test_round_trip assembler/r700/test_support assembler/test_line_tables cli/test_missing_packages
    cli/test_signals co/test_timing co/test_unit compiled/test_selections compiled/test_unit
    compiler/python/test_language compiler/python/test_reported compiler/test_r5xx_integers compiler/test_refusals
    debug/slicing/test_planted dpp/test_coordinates dpp/test_fetch_return draw/test_interlock
    draws/test_hardware_geometry draws/test_recorded explore/test_hostile fast/r700/test_elements
    fast/r700/test_known_values fast/test_conditional fast/test_known_values fast/test_spans
    golden/r700/test_formulas lib/slices/test_register_slice lib/test_age_matrix lib/test_arbiter
    lib/test_valid_bits mc/test_blender mc/test_bus_reader mc/test_bus_writer mc/test_conditional_cache
    mc/test_elements mc/test_outputs mc/test_ports mc/test_reorder_buffer mc/test_write_combiner pe/test_fetcher
    pe/test_loader pe/test_processor pe/test_walker r5xx/code/test_reader r5xx/golden/test_alu_reference
    r5xx/simulation/test_memory r700/hardware/test_write_assembler r700/parts/test_vertex_format
    r700/test_flow_random r700/test_programs system/test_machine system/test_shaders vgt/test_emits vgt/test_grouper
"""
RATES: Mapping[Path, int] = {
    _TOP / f"{name}.py": rate for rate, names in ((7, _OFTEN), (11, _SELDOM)) for name in names.split()
}
"""Files whose many cases take long together, and of how many of them one is ordinary."""


def some(cases: Sequence[Any], every: int) -> list[Any]:
    """One case of so many is always run, all with --long."""
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.long) for number, case in enumerate(cases)
    ]


def has_all_cases() -> bool:
    """Whether tests have all their cases."""
    return os.environ.get(ALL_CASES) == "1"


def fewer(count: int) -> int:
    """How many random cases a test draws, or cycles it has: `count` with --long and on mutants, else two fifths."""
    return count if has_all_cases() else count * 2 // 5


def pairs(first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
    """Every pair of two lists with --long; always so many that each of both lists is in one."""
    one, other = list(enumerate(first)), list(enumerate(second))
    step = min(len(one), len(other))
    return [
        pytest.param(a, b, marks=() if (number - other_number) % step == 0 else pytest.mark.long)
        for (number, a), (other_number, b) in product(one, other)
    ]


def only(cases: Iterable[Any], always: Collection[Any]) -> list[Any]:
    """Some cases are always run, all of them with --long."""
    return [case if case in always else pytest.param(case, marks=pytest.mark.long) for case in cases]


def mark(items: Iterable[pytest.Item], rates: Mapping[Path, int]) -> None:
    """In the files of `rates`, mark as long all cases of a test but the first of so many.

    A test with few cases keeps them all, others keep two at least. Cases that are long already do not count.
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
        # Odd steps meet both values of a parameter with two. Half of the cases is a step with which two remain.
        step = min(rate, cases[name] // 2 | 1)
        if cases[name] >= _LEAST and seen[name] % step:
            item.add_marker(pytest.mark.long)
        seen[name] += 1

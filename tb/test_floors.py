"""Imports go down only: rtl/isa <- rtl <- sim <- tb <- scripts."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
FLOORS = ("ctm.rtl.isa", "ctm.rtl", "ctm.sim", "ctm.tb", "scripts")


def floor(module: str) -> int | None:
    """The floor of a module, None for one that is not the project's; ctm.rtl.isa comes before rtl."""
    for number, prefix in enumerate(FLOORS):
        if module == prefix or module.startswith(prefix + "."):
            return number
    return None


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def sources(folder: str) -> list[Path]:
    return sorted((TOP / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", ["rtl", "sim", "tb"])
def test_no_module_imports_from_a_higher_floor(folder: str) -> None:
    assert sources(folder)
    for path in sources(folder):
        own = floor(".".join(("ctm", *path.relative_to(TOP).with_suffix("").parts)))
        for module in imports(path):
            assert (floor(module) or 0) <= own, f"{path.relative_to(TOP)} imports {module}"


def test_declarations_import_only_their_own_kind_and_amaranth_shapes() -> None:
    allowed = ("ctm.rtl.isa", "amaranth.lib", "dataclasses", "collections.abc", "typing")
    for path in sources("rtl/isa"):
        for module in imports(path):
            assert module.startswith(allowed), f"{path.relative_to(TOP)} imports {module}"


def test_the_golden_model_knows_declarations_and_configuration_only() -> None:
    for path in sources("sim/golden"):
        for module in imports(path):
            if module.startswith("ctm.rtl"):
                assert module.startswith(("ctm.rtl.isa", "ctm.rtl.config")), f"{path.relative_to(TOP)} imports {module}"


def test_units_beside_the_array_know_nothing_of_its_instruction_set() -> None:
    for folder in ("fp", "mc", "pe"):
        for path in sources(f"sim/golden/{folder}"):
            for module in imports(path):
                # The loader needs the length of an instruction, which ctm.rtl.isa.limits has.
                assert not module.startswith(
                    ("ctm.sim.golden.dpp", "ctm.rtl.isa.r5xx.instruction", "ctm.rtl.isa.r5xx.opcodes")
                ), path


def test_arithmetic_in_hardware_knows_nothing_of_an_instruction_set() -> None:
    allowed = ("ctm.rtl.lib", "ctm.rtl.fp", "ctm.rtl.config", "ctm.rtl.isa.transcendental", "ctm.rtl.isa.coefficients")
    for folder in ("fp", "lib"):
        for path in sources(f"rtl/{folder}"):
            for module in imports(path):
                assert not module.startswith("ctm.rtl") or module.startswith(allowed), (
                    f"{path.relative_to(TOP)}: {module}"
                )


@pytest.mark.parametrize("unit", ["mc", "co", "pe"])
def test_a_unit_in_hardware_knows_nothing_of_the_array(unit: str) -> None:
    assert sources(f"rtl/{unit}")
    for path in sources(f"rtl/{unit}"):
        for module in imports(path):
            assert not module.startswith(("ctm.rtl.dpp", "ctm.rtl.isa.r5xx.instruction", "ctm.rtl.isa.r5xx.opcodes")), (
                f"{path}: {module}"
            )

"""Imports go down only, and every floor is as small as it says: what docs/design/floors.md draws."""

import ast
import graphlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PACKAGES = ("isa", "rtl", "sim", "tb", "scripts")
"""The project's floors; rtl/isa is one of its own."""
HARDWARE = (
    {"setting"}, {"draw_config"}, {"config"}, {"lib"}, {"fp", "border"}, {"mc"},
    {"co", "pa", "pe", "host", "dpp", "vgt"}, {"r5xx", "r700"}, {"instruction_sets", "draw"}, {"machine"}, {"ctm"},
    {"board"},
)  # fmt: skip
"""The floors of rtl above rtl/isa; packages on the same floor do not know each other. Below, those of sim."""
SOFTWARE = (
    {"fault", "memory", "files"}, {"golden", "elf"}, {"assembler", "compiled"},
    {"compiler", "engines", "synthesis"}, {"profile"}, {"boards", "runtime"}, {"jobs", "kernels", "draws"},
    {"report", "explore", "debug"}, {"sweep"}, {"split"}, {"cli"},
)  # fmt: skip
SETS = ("r5xx", "r700")
"""Instruction sets."""
WITHOUT_INSTRUCTION_SET = (
    *(f"rtl/{name}" for name in ("border", "co", "dpp", "fp", "host", "lib", "mc", "pa", "pe", "vgt", "draw")),
    *(f"sim/golden/{name}" for name in ("co", "dpp", "fp", "mc", "pe")),
)
INSIDE = {
    "rtl/r700": (
        {"partition", "quads", "shapes"}, {"pipeline_note", "problem", "shading", "shading_start"},
        {"border", "launch"}, {"code", "finish", "flow", "lane", "occupancy", "registers", "start"}, {"alu", "fetch"},
        {"trace"}, {"core"}, {"watch"}, {"instruction_set"},
    ),
    "rtl/r700/fetch": (
        {"selection", "vertex_format"}, {"operation", "returned"}, {"export_decode", "forms", "micro_op"},
        {"decode"}, {"control", "ends", "finders", "sequencer"}, {"writers"}, {"executor"}, {"unit"},
    ),
}  # fmt: skip
"""The floors inside a package, whose files and folders on one floor do not know each other."""
WITHOUT_CIRCLES = "rtl/r5xx", "rtl/mc", "sim/assembler", "sim/compiler", "sim/engines/fast"
"""Packages whose files and folders, each with all that is in it, do not import each other in circles."""
MOST_FILES = {"rtl": 20, "sim": 20, "tb": 30}
LONGEST_ELABORATE = 60


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Names of the modules that a file imports anywhere; of ``from a import b`` both ``a`` and ``a.b``."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return tuple(found)


def sources(folder: str) -> list[Path]:
    found = sorted((TOP / folder).rglob("*.py"))
    assert found, folder
    return found


def name_of(path: Path) -> str:
    """A module's name."""
    names = path.relative_to(TOP).with_suffix("").parts
    return ".".join(("ctm", *(name for name in names if name != "__init__")))


def crossings(folder: str) -> Iterator[tuple[Path, list[str]]]:
    """What each file of a folder imports of the project, as lists of names without ``ctm``."""
    for path in sources(folder):
        for module in imports(path):
            if module.startswith(("ctm.", "scripts.")):
                yield path, module.removeprefix("ctm.").split(".")


def floor(names: list[str]) -> int:
    """The floor of a module of the project."""
    return PACKAGES.index("isa" if names[:2] == ["rtl", "isa"] else names[0]) if names[0] in PACKAGES else 0


@pytest.mark.parametrize("folder", ["rtl", "sim", "tb"])
def test_no_module_imports_from_a_higher_floor(folder: str) -> None:
    for path, names in crossings(folder):
        assert floor(names) <= floor(name_of(path).split(".")[1:]), f"{path.relative_to(TOP)} imports {'.'.join(names)}"


@pytest.mark.parametrize(("top", "drawn"), [("rtl", HARDWARE), ("sim", SOFTWARE)])
def test_packages_import_from_lower_floors_only(top: str, drawn: tuple[set[str], ...]) -> None:
    floors = {name: number for number, names in enumerate(drawn) for name in names}
    for path, (package, *names) in crossings(top):
        own = name_of(path).split(".")[2:3]
        if package == top and names and own and names[0] not in ("isa", *own):
            assert own != ["isa"] and floors[names[0]] < floors[own[0]], f"{path.relative_to(TOP)} imports {names[0]}"


def test_declarations_import_only_their_own_kind_and_amaranth_shapes() -> None:
    allowed = ("ctm.rtl.isa", "amaranth.lib", "dataclasses", "collections.abc", "typing")
    for path in sources("rtl/isa"):
        for module in imports(path):
            assert module.startswith(allowed), f"{path.relative_to(TOP)} imports {module}"


def test_borders_import_only_declarations_and_configuration() -> None:
    allowed = ("amaranth", "ctm.rtl.border", "ctm.rtl.config", "ctm.rtl.isa")
    for path in sources("rtl/border"):
        for module in imports(path):
            assert module.startswith(allowed), f"{path.relative_to(TOP)} imports {module}"


@pytest.mark.parametrize(
    ("folder", "registries"),
    [
        *((folder, ()) for folder in WITHOUT_INSTRUCTION_SET),
        ("sim/golden", ("instruction_sets.py",)),
        ("sim/assembler", ("languages.py",)),
        ("sim/elf", ("kinds.py", "__init__.py")),
        ("sim/compiler", ("targets.py",)),
    ],
)
def test_only_registries_above_an_instruction_set_know_it(folder: str, registries: tuple[str, ...]) -> None:
    assert {path.name for path in (TOP / folder).iterdir()} >= set(registries)
    for path, names in crossings(folder):
        is_registry = path.parent == TOP / folder and path.name in registries
        if not is_registry and not set(path.parts) & set(SETS):
            assert not set(names) & set(SETS), f"{path.relative_to(TOP)} imports {'.'.join(names)}"


@pytest.mark.parametrize("folder", ["rtl", "sim", "tb"])
def test_instruction_sets_do_not_know_each_other(folder: str) -> None:
    for path, names in crossings(folder):
        own = {name for name in SETS if name in path.relative_to(TOP).parts}
        others = set(names) & set(SETS)
        assert not own or others <= own, f"{path.relative_to(TOP)} imports {'.'.join(names)}"


def test_the_golden_model_knows_declarations_and_configuration_only() -> None:
    for path in sources("sim/golden"):
        for module in imports(path):
            if module.startswith("ctm.rtl."):
                assert module.startswith(("ctm.rtl.isa", "ctm.rtl.config")), f"{path.relative_to(TOP)} imports {module}"


def test_tests_are_no_libraries() -> None:
    modules = {name_of(path) for path in sources("tb")}
    for path in sources("tb"):
        for name in imports(path):
            assert ".test_" not in name or name not in modules, f"{path.relative_to(TOP)} imports {name}"


@pytest.mark.parametrize("folder", ["rtl", "sim"])
def test_no_imports_go_round(folder: str) -> None:
    modules = {name_of(path): path for path in sources(folder)}
    # A package's own file only says what it is, or what of it others use.
    graph = {
        name: {module for module in imports(path) if module in modules and module != name}
        for name, path in modules.items()
        if path.name != "__init__.py"
    }
    tuple(graphlib.TopologicalSorter(graph).static_order())


def inner(package: str) -> dict[str, set[str]]:
    """What each file and folder in a package imports of the others."""
    base = package.split("/")
    found: dict[str, set[str]] = {}
    for path, names in crossings(package):
        own, other = name_of(path).split(".")[1 + len(base) :][:1], names[len(base) :][:1]
        if own:
            found.setdefault(own[0], set())
            is_inside = names[: len(base)] == base and other and other != own
            if is_inside and any((TOP / package / name).exists() for name in (other[0], f"{other[0]}.py")):
                found[own[0]].add(other[0])
    return found


@pytest.mark.parametrize("package", INSIDE)
def test_inside_a_package_imports_come_from_lower_floors(package: str) -> None:
    floors = {name: number for number, names in enumerate(INSIDE[package]) for name in names}
    for own, others in inner(package).items():
        assert not [other for other in others if floors[other] >= floors[own]], f"{package}/{own} imports {others}"


@pytest.mark.parametrize("package", WITHOUT_CIRCLES)
def test_inside_a_package_no_imports_go_round(package: str) -> None:
    tuple(graphlib.TopologicalSorter(inner(package)).static_order())


@pytest.mark.parametrize("top", MOST_FILES)
def test_folders_stay_small(top: str) -> None:
    folders = {path.parent for path in sources(top)}
    for folder in folders:
        count = sum(path.is_file() for path in folder.iterdir())
        assert count <= MOST_FILES[top] or "data" in folder.parts, f"{folder.relative_to(TOP)} has {count} files"


def test_elaborates_stay_short() -> None:
    for path in sources("rtl"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name == "elaborate" and node.end_lineno:
                lines = node.end_lineno - node.lineno + 1
                assert lines <= LONGEST_ELABORATE, f"{path.relative_to(TOP)}: elaborate has {lines} lines"


@pytest.mark.slow
def test_attributes_of_hardware_are_set_when_it_is_made() -> None:
    """A reader of `__init__` and of the class's own names knows all of them."""
    for path in sources("rtl"):
        for kind in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)):
            methods = [node for node in kind.body if isinstance(node, ast.FunctionDef)]
            known = {name for method in methods if method.name == "__init__" for name in assigned(method, "self")}
            known |= {name for node in kind.body if node not in methods for name in assigned(node, None)}
            later = {(method.name, name) for method in methods for name in assigned(method, "self") - known}
            assert not later, (path, kind.name, later)


def assigned(tree: ast.AST, owner: str | None) -> set[str]:
    """The names that statements give values: attributes of an owner, or plain ones."""
    targets = [
        each
        for node in ast.walk(tree)
        for target in ([*node.targets] if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
        for each in ast.walk(target or ast.Pass())
    ]
    if owner is None:
        return {each.id for each in targets if isinstance(each, ast.Name)}
    owned = (each for each in targets if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name))
    return {each.attr for each in owned if isinstance(each.value, ast.Name) and each.value.id == owner}


def test_everything_is_imported_by_the_one_name() -> None:
    old = re.compile(r"^\s*(from|import) (rtl|sim|tb|examples)\b", re.MULTILINE)
    for folder in ("src", "rtl", "sim", "tb", "scripts", "examples"):
        for path in sources(folder):
            assert not old.search(path.read_text()), path.relative_to(TOP)

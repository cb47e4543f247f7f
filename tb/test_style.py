"""The project's own rules: ruff, mypy, sizes of files, and that it speaks of itself alone."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
FOLDERS = ("src", "rtl", "sim", "tb", "scripts", "examples")
HARD_LIMIT = 400
TABLES = ("rtl/isa/coefficients.py",)
OTHER_LANGUAGES = {".c", ".cc", ".h", ".js", ".s", ".toml", ".v"}
QUOTING = {TOP / "tb" / name for name in ("data/r700", "mutation", "verify")}
"""Recorded programs, whose sources stay as they were compiled, and lists that have lines of sources in Python."""
PLANTED = """

from amaranth import Const, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_members
from ctm.rtl.lib.views import record


def _planted_number() -> Value:
    return 1


def _planted_record() -> data.View:
    return _planted_number()


def _planted_call() -> Value:
    return _planted_field(Const(0))


def _planted_field(layout: data.StructLayout) -> Value:
    return Value.cast(record(layout).field)


class _PlantedUnit(wiring.Component):
    def __init__(self, config: ArrayConfig, port: data.StructLayout, *, draws: bool) -> None:
        of_draws = {"drawn": Out(1)}
        beats = beat_members(config, In, "beat")
        super().__init__({"taken": In(1), "port": Out(port), **(of_draws if draws else {}), **beats})

    def ports(self) -> list[object]:
        return [self.taken, self.port.field, self.drawn, self.beat, self.absent, self.taken.valid]


class _PlantedOpenUnit(wiring.Component):
    def __init__(self, names: list[str]) -> None:
        super().__init__({f"{name}_port": In(1) for name in names})

    def ports(self) -> object:
        return self.any_port
"""
"""Three errors and a field, which is none; two ports that there are not, beside ones that there are or may be."""
PLANTED_ERRORS = ("return-value", "return-value", "arg-type", "attr-defined", "attr-defined")


def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (TOP / folder).rglob("*.py"))


def other_sources() -> list[Path]:
    """Those that are not in Python, but for those of others."""
    found = (path for folder in FOLDERS for path in (TOP / folder).rglob("*") if path.suffix in OTHER_LANGUAGES)
    return [*sorted(path for path in found if not QUOTING & {*path.parents}), TOP / "docs" / "ctm.h"]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=TOP, capture_output=True, text=True, check=False)


def test_ruff_finds_nothing() -> None:
    result = run("ruff", "check", "--no-cache", *FOLDERS)
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
def test_mypy_finds_nothing() -> None:
    result = run("mypy")
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
def test_mypy_finds_errors_in_hardware(tmp_path: Path) -> None:
    """In the last component of each folder, and in one of the tests' own."""
    hardware = TOP / "rtl"
    components = {
        path.relative_to(hardware).parts[0]: path
        for path in sorted(hardware.rglob("*.py"))
        if "(wiring.Component)" in path.read_text()
    }
    components["tb"] = TOP / "tb" / "synthesis" / "component.py"
    # With what mypy knows of the project from the test above, if that has run, it reads only what has changed.
    if (known := TOP / ".mypy_cache").is_dir():
        shutil.copytree(known, tmp_path / "known")
    options = ["--cache-dir", str(tmp_path / "known")]
    for folder, path in components.items():
        planted = tmp_path / f"{folder}.py"
        planted.write_text(path.read_text() + PLANTED)
        name = path.relative_to(TOP).with_suffix("")
        options += ["--module", ".".join(("ctm", *name.parts))]
        options += ["--shadow-file", f"src/ctm/{name}.py", str(planted)]
    result = run("mypy", *options)
    found = re.findall(r": error: .*\[([a-z-]+)\]$", result.stdout, re.MULTILINE)
    assert sorted(found) == sorted([*PLANTED_ERRORS] * len(components)), result.stdout


def test_files_stay_small() -> None:
    for path in sources():
        name = str(path.relative_to(TOP))
        if name not in TABLES:
            assert len(path.read_text().splitlines()) <= HARD_LIMIT, name


def test_every_module_says_what_it_is() -> None:
    for path in sources():
        if path.name != "__init__.py" or path.read_text().strip():
            assert ast.get_docstring(ast.parse(path.read_text())), path


def test_no_file_names_a_place_of_the_machine_it_was_written_on() -> None:
    foreign = re.compile(r"(?<![\w.])/(work|tmp|root|home)/\w")
    for path in [*sources(), *other_sources(), *(TOP / "docs").glob("*.md"), TOP / "README.md"]:
        if path != Path(__file__):
            assert not foreign.search(path.read_text()), path


RETIRED = (
    "Ages", "Allotment", "Conversation", "LateProducts", "LineOrder", "Mover", "MoveUnit", "PairCalendar",
    "PassJoining", "PortCalendar", "Residents", "RowPool", "StartedTable", "WrittenRows",
)  # fmt: skip
"""Names of units before they had those of the field (docs/glossary.md)."""


def test_retired_names_do_not_come_back() -> None:
    found = re.compile(rf"\b({'|'.join(RETIRED)})\b")
    texts = [*sources(), *other_sources(), *(TOP / "docs").glob("*.md")]
    others = [path for path in texts if path != Path(__file__).resolve()]
    assert not [(str(path), each[0]) for path in others for each in found.finditer(path.read_text())]


RETIRED_WORDS = (
    "ahead answer answers answered behind everybody forget forgets forgotten late lookup lookups nobody part parts "
    "pause piece pieces place places quiet refuse refused refuses rest rests room shows somebody stays turn turns "
    "underway way ways who whoever"
).split()
"""Words with several meanings that are gone, as parts of names and in texts (docs/glossary.md)."""
_WAVEFRONTS = "group groups slot slots"
_SHARED = f"{_WAVEFRONTS} asked asks rooms"
ALSO_RETIRED = {
    "rtl/board": f"{_SHARED} left",
    "rtl/border": f"{_SHARED} left",
    "rtl/co": f"{_SHARED} left",
    "rtl/dpp": _WAVEFRONTS,
    "rtl/fp": _SHARED,
    "rtl/host": f"{_SHARED} left",
    "rtl/lib": _SHARED,
    "rtl/mc": f"{_SHARED} left",
    "rtl/pe": f"{_SHARED} left",
    "rtl/r5xx": _WAVEFRONTS,
    "sim/compiled": "asked asks",
    "sim/engines/fast/r5xx": "group groups",
    "sim/golden/co": _WAVEFRONTS,
    "sim/golden/dpp": "group groups",
    "sim/golden/draw": "group groups",
    "sim/golden/fp": _WAVEFRONTS,
    "sim/golden/mc": _WAVEFRONTS,
    "sim/golden/pe": "group groups",
    "sim/golden/r5xx": "group groups",
    "tb/cli": "refusal refusals",
    "tb/dpp": _WAVEFRONTS,
    "tb/soak": "refusal refusals",
}
"""More of them, which are gone from a folder."""
ONE_MEANING = {
    "rtl/mc": "way ways",
    "tb/mc": "way ways",
    "rtl/pa": "piece pieces",
    "sim/golden/draw": "piece pieces",
}
"""Words that mean one thing in a folder: the ways of a cache, the pieces of a clipped triangle (docs/draws.md)."""
KEPT_WORDS = {
    r"push_refused|PUSH_REFUSED": "a field of STATUS",
    r"[Ww]ave[ _]slots?": "a resident wavefront's slot",
    r"INSTRUCTION_SLOTS|SLOT_BITS": "names of `isa`: storage of an instruction",
    r'(config|CONFIG|array|self)\.lookups|\blookups(=|: int)|`lookups`|"lookups", low': "a key of the configuration",
    r'"?LOOKUPS"?|(WITHOUT_)?LOOKUP(_PROJ|_UNCACHED)?\b': "a counter's name and CTM's operations",
    r'"stall_lookups"|"lookups": (0|COLOURS)|stall: lookups': "a counter's name in the reports",
    r"\bPart,|_ast\.Part\b|\bPart\(\)|value\.parts": "names of Amaranth",
    r"r700[./]parts\b|\"parts\.test_": "a folder of tests",
    r"(error|self)\.place\b|\bplace=(describe\(|self\._describe_pc|f)|^    place: str|`place`, which": (
        "a name of `MachineError`"
    ),
    r"Device\.place\b|\w\.place\(|def place\(self, data|\bplace_rings": "the Python API's of memory",
    r"\bplace=error\.place|place: str, \*, once|self, place, is_temporary": "arguments of the Python API",
    r'"pause"|pilot\.pause|set_pause_generator|read_addresses\.pause': "names of DAP, Textual and cocotbext-axi",
    r"__builtin_ia32_pause": "a compiler's name of an x86 instruction",
    r"(?<![A-Za-z])in[ _]place(?![A-Za-z])(?! of)": "an operation that changes its operand",
    r"fractional_part": "what FRC gives",
    r'counts\["pieces"\]|DRAW_PIECES|raster\.pieces': "a counter's name",
    r"[Pp]laces? (it )?(and|or) routes?|`nextpnr` places|`place`$|Placer, .place": "nextpnr's word",
    r"def place\(self, modules": "nextpnr's word, too",
    r"lookup[ _]tables?": "LUTs",
    r"parse_part|\bpart(?= = \"GW)|Take the part number|\bPart: LFE5U": "an FPGA's part number",
    r"\bQUIET\b": "IEEE 754's quiet NaN",
    r'\bways=(\d|self\.ways)|(_cache|self|cache\})\.ways\b|text\}: ways|\bways: int|"ways", low': "ways of a cache",
    r"--quiet": "an option of tools",
    r"part-select": "Verilog's word",
    r"(Path\(folder\)|pure|path|folder)\.parts|(relative_to\(\w+\)|with_suffix\(\"\"\))\.parts": "a name of `pathlib`",
    r'"room"': "a key of --json",
    r"IHI 0022, part B|takes_part|late in (a|the) cycle|integer part|upper and lower part": "plain English",
}
"""What these words may stand in, and why."""


def retired_words(name: str) -> list[str]:
    """Those of a file."""
    more = [word for folder, words in ALSO_RETIRED.items() if name.startswith(f"{folder}/") for word in words.split()]
    kept = {word for folder, words in ONE_MEANING.items() if name.startswith(f"{folder}/") for word in words.split()}
    return [word for word in (*RETIRED_WORDS, *more) if word not in kept]


def test_retired_words_do_not_come_back() -> None:
    kept, found = re.compile("|".join(KEPT_WORDS)), []
    for path in (*sources(), *other_sources()):
        if path == Path(__file__):
            continue
        words = "|".join(retired_words(str(path.relative_to(TOP))))
        retired = re.compile(rf"(?<![A-Za-z])({words})(?![A-Za-z])", re.IGNORECASE)
        found += [
            f"{path}:{number}: {line.strip()}"
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if retired.search(line) and retired.search(kept.sub("", line))
        ]
    assert not found


_DOCS = TOP / "docs"
_PAGES_WITHOUT_GROUPS = (
    TOP / "README.md",
    *(
        _DOCS / "design" / f"{name}.md"
        for name in ("r5xx-core", "memory-controller", "command-processor", "conditional-unit", "array", "machine")
    ),
    *(_DOCS / f"{name}.md" for name in ("waves", "sweep", "explore", "large_domains", "synthesis", "settings")),
    _DOCS / "log" / "clock.md",
)
REWRITTEN_PAGES = (
    TOP / "README.md",
    TOP / "CONTRIBUTING.md",
    *sorted((_DOCS / "design").glob("*.md")),
    *sorted((_DOCS / "howto").glob("*.md")),
    *(_DOCS / f"{name}.md" for name in ("overview", "performance", "integration", "arithmetic", "draws")),
    *(_DOCS / f"{name}.md" for name in ("r700", "isa", "isa-r700", "kernels", "jobs", "settings")),
    *(_DOCS / f"{name}.md" for name in ("debugger", "profile", "waves", "sweep", "verify", "explore")),
    *(_DOCS / f"{name}.md" for name in ("large_domains", "cuda", "assembler", "assembler-r700", "accuracy")),
    _DOCS / "synthesis.md",
    *(_DOCS / "log" / f"{name}.md" for name in ("r5xx-core", "command-processor", "performance", "kernels", "clock")),
    *sorted((TOP / "examples").rglob("README.md")),
)
_RECORDED = "\n## Levels of presets\n"
"""A section that a script writes."""
RETIRED_PROSE = (
    "answer answers answered answering ask asks asked behind everybody forget forgets forgot forgotten nobody pause "
    "pauses quiet refuse refused refuses rests resting room rooms shows somebody underway who whoever"
).split()
RETIRED_PHRASES = ("as ever", "by turns", "in front of", "in place of", "in turns?", "is known", "under way")
RETIRED_WITHOUT_GROUPS = ("groups?", "late", "lookups", "pieces?")
"""Words of a private language, and the field's for them: docs/glossary.md."""


def test_retired_words_do_not_come_back_into_prose() -> None:
    """In documents, and in comments and messages of sources in other languages than Python."""
    for path in (*REWRITTEN_PAGES, *other_sources()):
        own = RETIRED_WITHOUT_GROUPS if path in _PAGES_WITHOUT_GROUPS else ()
        words = "|".join((*RETIRED_PROSE, *RETIRED_PHRASES, *own))
        found = re.compile(rf"(?<![\w/])({words})(?![\w/])", re.IGNORECASE)
        text = path.read_text().partition(_RECORDED)[0]
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        for line in re.sub(r"`[^`\n]+`", "", prose).splitlines():
            assert not found.search(line), f"{path.relative_to(TOP)}: {line}"


_PIXELS_AS_PROCESSORS = re.compile(
    r"((?<![a-z])(in|un)?(active|covered|valid)|killed|neighbouring)[ _]processor|(?<![a-z])per[ _]processor(?!_idx)"
    r"|(?<!for )(?<![a-z])(each|every)[ _]processor|processor \([i0-9], "
    r"|processors? of (a|the|its) (domain|wavefront|quad)",
    re.IGNORECASE,
)
"""What manuals call processors; here they are pixels, and a processor is the command processor or a host's."""


def test_pixels_are_not_called_processors() -> None:
    for path in (*sources(), *other_sources(), *_DOCS.rglob("*.md"), *(TOP / "examples").rglob("*.md")):
        for line in path.read_text().splitlines() if path != Path(__file__) else ():
            # Most lines are not searched, which takes long.
            found = _PIXELS_AS_PROCESSORS.search(line) if "rocessor" in line else None
            assert not found, f"{path.relative_to(TOP)}: {found[0]}"


def test_every_unit_of_the_glossary_is_there() -> None:
    text = (TOP / "docs" / "glossary.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \| `(\S+)` \|$", text, re.MULTILINE)
    assert len(rows) > 15
    for name, file in rows:
        assert re.search(rf"^class {name}\b", (TOP / file).read_text(), re.MULTILINE), name

"""The project's own rules: ruff, mypy, sizes of files, and that it speaks of itself alone."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]
FOLDERS = ("src", "rtl", "sim", "tb", "scripts", "examples")
HARD_LIMIT = 400
TABLES = ("rtl/isa/coefficients.py",)
PLANTED = """

from amaranth import Const, Value
from amaranth.lib import data
from ctm.rtl.lib.views import record


def _planted_number() -> Value:
    return 1


def _planted_record() -> data.View:
    return _planted_number()


def _planted_call() -> Value:
    return _planted_field(Const(0))


def _planted_field(layout: data.StructLayout) -> Value:
    return Value.cast(record(layout).field)
"""
"""Three errors, and at the end a field, which is none."""


def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (TOP / folder).rglob("*.py"))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=TOP, capture_output=True, text=True, check=False)


def test_ruff_finds_nothing() -> None:
    result = run("ruff", "check", "--no-cache", *FOLDERS)
    assert result.returncode == 0, result.stdout


def test_mypy_finds_nothing() -> None:
    result = run("mypy")
    assert result.returncode == 0, result.stdout


def test_mypy_finds_errors_in_hardware(tmp_path: Path) -> None:
    """In the last component of each folder."""
    hardware = TOP / "rtl"
    components = {
        path.relative_to(hardware).parts[0]: path
        for path in sorted(hardware.rglob("*.py"))
        if "(wiring.Component)" in path.read_text()
    }
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
    assert sorted(found) == sorted(["return-value", "return-value", "arg-type"] * len(components)), result.stdout


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
    for path in [*sources(), *(TOP / "docs").glob("*.md"), TOP / "README.md"]:
        if path != Path(__file__):
            assert not foreign.search(path.read_text()), path


RETIRED = (
    "Ages", "Allotment", "Conversation", "LateProducts", "LineOrder", "Mover", "MoveUnit", "PairCalendar",
    "PassJoining", "PortCalendar", "Residents", "RowPool", "StartedTable", "WrittenRows",
)  # fmt: skip
"""Names of units before they had those of the field (docs/glossary.md)."""


def test_retired_names_do_not_come_back() -> None:
    found = re.compile(rf"\b({'|'.join(RETIRED)})\b")
    texts = [path for path in (*sources(), *(TOP / "docs").glob("*.md")) if path != Path(__file__).resolve()]
    assert not [(str(path), each[0]) for path in texts for each in found.finditer(path.read_text())]


_LOCAL_WORDS = (
    "ahead answer answers answered behind everybody forget forgets forgotten late lookup lookups nobody part parts "
    "pause piece pieces place places quiet refuse refused refuses rest rests room shows somebody stays turn turns "
    "underway way ways who whoever"
)
_SHARED_WORDS = (
    "ahead answer answers answered asked asks behind everybody forget forgets forgotten group groups late nobody part "
    "parts pause place places quiet refuse refused refuses rest rests room rooms shows slot slots somebody turn turns "
    "who whoever"
)
RETIRED_WORDS = {
    "rtl/*.py": _LOCAL_WORDS,
    "sim/*.py": _LOCAL_WORDS,
    "tb/*.py": _LOCAL_WORDS,
    "rtl/border": f"{_SHARED_WORDS} {_LOCAL_WORDS} left",
    "rtl/lib": f"{_SHARED_WORDS} {_LOCAL_WORDS}",
    "rtl/mc": f"{_SHARED_WORDS} {_LOCAL_WORDS.replace(' way ways', '')} left",
    "rtl/co": f"{_SHARED_WORDS} {_LOCAL_WORDS} left",
    "rtl/pe": f"{_SHARED_WORDS} {_LOCAL_WORDS} left",
    "rtl/board": f"{_SHARED_WORDS} {_LOCAL_WORDS} left",
    "rtl/host": f"{_SHARED_WORDS} {_LOCAL_WORDS} left",
    "rtl/fp": f"{_SHARED_WORDS} {_LOCAL_WORDS}",
    "rtl/dpp": f"{_LOCAL_WORDS} group groups slot slots",
    "rtl/draw": _LOCAL_WORDS,
    "rtl/isa": _LOCAL_WORDS,
    "rtl/pa": _LOCAL_WORDS.replace(" piece pieces", ""),
    "rtl/vgt": _LOCAL_WORDS,
    "rtl/r5xx": f"{_LOCAL_WORDS} group groups slot slots",
    "rtl/r700": _LOCAL_WORDS,
    "tb/dpp": f"{_LOCAL_WORDS} group groups slot slots",
    "sim/assembler": _LOCAL_WORDS,
    "sim/compiler": _LOCAL_WORDS,
    "examples": _LOCAL_WORDS,
    "scripts": re.sub(r" (part|place|turns?|way|ways)(?![a-z])", "", _LOCAL_WORDS),
    "sim/boards": _LOCAL_WORDS,
    "sim/cli": _LOCAL_WORDS,
    "sim/compiled": f"{_LOCAL_WORDS} asked asks",
    "sim/debug": _LOCAL_WORDS,
    "sim/draws": _LOCAL_WORDS,
    "sim/elf": _LOCAL_WORDS,
    "sim/explore": _LOCAL_WORDS,
    "sim/jobs": _LOCAL_WORDS,
    "sim/kernels": _LOCAL_WORDS,
    "sim/profile": _LOCAL_WORDS,
    "sim/report": _LOCAL_WORDS,
    "sim/runtime": _LOCAL_WORDS,
    "sim/split": _LOCAL_WORDS,
    "sim/sweep": _LOCAL_WORDS,
    "sim/synthesis": _LOCAL_WORDS,
    "sim/engines": _LOCAL_WORDS,
    "sim/engines/fast/r5xx": "group groups",
    "sim/golden/co": f"{_LOCAL_WORDS} group groups slot slots",
    "sim/golden/dpp": f"{_LOCAL_WORDS} group groups",
    "sim/golden/draw": f"{_LOCAL_WORDS.replace(' piece pieces', '')} group groups",
    "sim/golden/fp": f"{_LOCAL_WORDS} group groups slot slots",
    "sim/golden/mc": f"{_LOCAL_WORDS} group groups slot slots",
    "sim/golden/pe": f"{_LOCAL_WORDS} group groups",
    "sim/golden/r5xx": f"{_LOCAL_WORDS} group groups",
    "sim/golden/r700": _LOCAL_WORDS,
    "tb/soak": f"{_LOCAL_WORDS} refusal refusals",
    "tb/assembler": _LOCAL_WORDS,
    "tb/board": _LOCAL_WORDS,
    "tb/border": _LOCAL_WORDS,
    "tb/cli": f"{_LOCAL_WORDS} refusal refusals",
    "tb/elf": _LOCAL_WORDS,
    "tb/isa": _LOCAL_WORDS,
    "tb/jobs": _LOCAL_WORDS,
    "tb/explore": _LOCAL_WORDS,
    "tb/report": _LOCAL_WORDS,
    "tb/pe": _LOCAL_WORDS,
    "tb/engines": _LOCAL_WORDS,
    "tb/sweep": _LOCAL_WORDS,
    "tb/co": _LOCAL_WORDS,
    "tb/compiled": _LOCAL_WORDS,
    "tb/compiler": _LOCAL_WORDS,
    "tb/cosim": _LOCAL_WORDS,
    "tb/debug": _LOCAL_WORDS,
    "tb/draw": _LOCAL_WORDS,
    "tb/draws": _LOCAL_WORDS,
    "tb/fast": _LOCAL_WORDS,
    "tb/fp": _LOCAL_WORDS,
    "tb/gates": _LOCAL_WORDS,
    "tb/golden": _LOCAL_WORDS,
    "tb/host": _LOCAL_WORDS,
    "tb/kernels": _LOCAL_WORDS,
    "tb/mutation": _LOCAL_WORDS,
    "tb/pa": _LOCAL_WORDS,
    "tb/r5xx": _LOCAL_WORDS,
    "tb/r700": _LOCAL_WORDS,
    "tb/runtime": _LOCAL_WORDS,
    "tb/split": _LOCAL_WORDS,
    "tb/system": _LOCAL_WORDS,
    "tb/verify": _LOCAL_WORDS,
    "tb/vgt": _LOCAL_WORDS,
    "tb/lib": _LOCAL_WORDS,
    "tb/mc": _LOCAL_WORDS.replace(" way ways", ""),
    "tb/synthesis": _LOCAL_WORDS,
}
"""Words with several meanings that are gone from a folder, as parts of names and in texts (docs/glossary.md)."""
KEPT_WORDS = {
    r"push_refused": "a field of STATUS",
    r"[Ww]ave[ _]slots?": "a resident wavefront's slot",
    r"INSTRUCTION_SLOTS|SLOT_BITS": "names of `isa`: storage of an instruction",
    r'(config|CONFIG|array)\.lookups|\blookups(=|: int)|`lookups`|"lookups", low': "a key of the configuration",
    r'"?LOOKUPS"?|(WITHOUT_)?LOOKUP(_PROJ|_UNCACHED)?\b': "a counter's name and CTM's operations",
    r'"stall_lookups"|"lookups": (0|COLOURS)|stall: lookups': "a counter's name in the reports",
    r"\bPart,|\bPart\(\)|value\.parts": "names of Amaranth",
    r"r700[./]parts\b|\"parts\.test_": "a folder of tests",
    r"(error|self)\.place\b|\bplace=(describe\(|self\._describe_pc|f)|^    place: str|`place`, which": (
        "a name of `MachineError`"
    ),
    r"Device\.place\b|\w\.place\(|def place\(self, data|\bplace_rings": "the Python API's of memory",
    r"\bplace=error\.place|place: str, \*, once|self, place, is_temporary": "arguments of the Python API",
    r'"pause"|pilot\.pause|set_pause_generator|read_addresses\.pause': "names of DAP, Textual and cocotbext-axi",
    r"(?<![A-Za-z])in[ _]place(?![A-Za-z])(?! of)": "an operation that changes its operand",
    r"fractional_part": "what FRC gives",
    r"is_behind\b": "a vertex and a clipping plane",
    r'counts\["pieces"\]|DRAW_PIECES|raster\.pieces': "a counter's name",
    r"[Pp]laces? (it )?(and|or) routes?|`nextpnr` places|`place`$|Placer, .place": "nextpnr's word",
    r"def place\(self, modules": "nextpnr's word, too",
    r"lookup[ _]tables?": "LUTs",
    r"parse_part|\bpart(?= = \"GW)|Take the part number|\bPart: LFE5U": "an FPGA's part number",
    r"\bQUIET\b": "IEEE 754's quiet NaN",
    r"slots=True": "a dataclass's `__slots__`",
    r"\bways=\d|\bways=self\.ways|(_cache|self)\.ways\b|\bways: int|\"ways\", low": "ways of a cache",
    r"test_support": "a file of tests",
    r"--quiet": "an option of tools",
    r"part-select": "Verilog's word",
    r"(Path\(folder\)|pure|path|folder)\.parts|(relative_to\(\w+\)|with_suffix\(\"\"\))\.parts": "a name of `pathlib`",
    r'"room"': "a key of --json",
    r"IHI 0022, part B|takes_part|late in (a|the) cycle|integer part|upper and lower part": "plain English",
}
"""What these words may stand in, and why."""


def test_retired_words_do_not_come_back() -> None:
    kept = re.compile("|".join(KEPT_WORDS))
    for folder, words in RETIRED_WORDS.items():
        found = re.compile(rf"(?<![A-Za-z])({'|'.join(words.split())})(?![A-Za-z])", re.IGNORECASE)
        for path in sorted({*TOP.glob(folder if folder.endswith(".py") else f"{folder}/**/*.py")} - {Path(__file__)}):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                assert not found.search(kept.sub("", line)), f"{path}:{number}: {line.strip()}"


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


def test_retired_words_do_not_come_back_into_documents() -> None:
    for path in REWRITTEN_PAGES:
        own = RETIRED_WITHOUT_GROUPS if path in _PAGES_WITHOUT_GROUPS else ()
        words = "|".join((*RETIRED_PROSE, *RETIRED_PHRASES, *own))
        found = re.compile(rf"(?<![\w/])({words})(?![\w/])", re.IGNORECASE)
        text = path.read_text().partition(_RECORDED)[0]
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        for line in re.sub(r"`[^`\n]+`", "", prose).splitlines():
            assert not found.search(line), f"{path.relative_to(TOP)}: {line}"


def test_every_unit_of_the_glossary_is_there() -> None:
    text = (TOP / "docs" / "glossary.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \| `(\S+)` \|$", text, re.MULTILINE)
    assert len(rows) > 15
    for name, file in rows:
        assert re.search(rf"^class {name}\b", (TOP / file).read_text(), re.MULTILINE), name

"""The documents: links lead somewhere, generated ones are up to date, and what they show works as it stands there."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.main import get_command

from ctm.sim.cli.application import application

TOP = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path
    for path in (*TOP.glob("*.md"), *(TOP / "docs").rglob("*.md"), *(TOP / "examples").rglob("*.md"))
    if ".venv" not in path.parts
)
NEW_PAGES = [
    TOP / "README.md",
    TOP / "CONTRIBUTING.md",
    *(TOP / "docs" / f"{name}.md" for name in ("index", "overview", "cuda", "performance", "integration")),
    *(TOP / "docs" / f"{name}.md" for name in ("arithmetic", "draws", "r700", "kernels", "jobs")),
    *(TOP / "docs" / f"{name}.md" for name in ("debugger", "profile", "waves", "sweep", "verify", "explore")),
    *(TOP / "docs" / f"{name}.md" for name in ("large_domains", "assembler", "assembler-r700", "accuracy")),
    *(TOP / "docs" / f"{name}.md" for name in ("synthesis", "settings", "isa-r700")),
    TOP / "docs" / "log" / "clock.md",
    *sorted((TOP / "docs" / "design").glob("*.md")),
    *sorted((TOP / "docs" / "howto").glob("*.md")),
    *sorted((TOP / "examples").rglob("README.md")),
]
"""Pages whose sentences have a limit."""
MOST_WORDS, MOST_WORDS_OF_A_SENTENCE, MOST_LINES = 90, 30, {"CONTRIBUTING.md": 150}


INVENTED = {
    "rtl/lib/ones_counter.py", "tb/lib/test_ones_counter.py", "rtl/mc/word_reader.py", "tb/mc/test_word_reader.py",
    "sim/engines/kept.py",
}  # fmt: skip
"""Files of worked examples."""


_APPLICATION: Any = get_command(application())
OPTIONS = {
    name: {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for name, command in _APPLICATION.commands.items()
}
"""Of each subcommand of ``ctm``."""


def name_of(path: Path) -> str:
    return str(path.relative_to(TOP))


@cache
def prose(path: Path) -> str:
    """A document without its code blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(path: Path) -> frozenset[str]:
    """Anchors of a document's headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return frozenset(found)


def paragraphs(path: Path) -> Iterator[str]:
    """Paragraphs and items of lists; no tables, headings and code."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", prose(path)):
        text = block.strip()
        if text and not text.startswith(("#", "|", "!", "<")):
            yield re.sub(r"\]\([^)]*\)", "]", text)


def sentences(paragraph: str) -> list[str]:
    return re.split(r"(?<=[.:;?!])\s+(?=[A-Z`*\[])", paragraph)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(path)) + re.findall(r'(?:src|href)="([^"]+)"', prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{name_of(path)}: {link}"
        if anchor:
            assert target.suffix == ".md" and anchor in anchors(target), f"{name_of(path)}: {link}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_paragraphs_stay_short(path: Path) -> None:
    for paragraph in paragraphs(path):
        assert len(paragraph.split()) <= MOST_WORDS, f"{name_of(path)}: {paragraph}"


@pytest.mark.parametrize("path", NEW_PAGES, ids=name_of)
def test_sentences_stay_short(path: Path) -> None:
    for paragraph in paragraphs(path):
        for sentence in sentences(paragraph):
            assert len(sentence.split()) <= MOST_WORDS_OF_A_SENTENCE, f"{name_of(path)}: {sentence}"
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES.get(path.name, lines), name_of(path)


def test_every_document_is_found_from_the_index() -> None:
    index = TOP / "docs" / "index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in re.findall(r"\]\((\S+?)\)", prose(index))}
    missing = [name_of(path) for path in (TOP / "docs").rglob("*.md") if path != index and path not in linked]
    assert not [name for name in missing if not name.startswith("docs/log/")]


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in a language."""
    text = (TOP / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def block(page: str, language: str) -> str:
    """The one code block of a page in a language."""
    (found,) = blocks(page, language)
    return found


def run(folder: Path, *arguments: str, sources: Path = TOP / "src") -> str:
    """What Python prints that runs in a folder, with the project's sources or with a copy of them."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    command = [sys.executable, *arguments]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_page_of_settings_is_up_to_date() -> None:
    """``python -m scripts.make_settings`` makes it; a new setting needs its meaning there."""
    made = run(TOP, "-c", "from scripts.make_settings import reference; print(reference(), end='')")
    assert made == (TOP / "docs" / "settings.md").read_text(encoding="utf-8")


def test_levels_of_presets_are_those_that_are_recorded() -> None:
    """``python -m scripts.preset_levels`` measures them and writes the section."""
    made = run(
        TOP, "-c", "import json; from scripts.preset_levels import FILE, PAGE, written; "
        "print(written(PAGE.read_text(encoding='utf-8'), json.loads(FILE.read_text(encoding='utf-8'))), end='')",
    )  # fmt: skip
    assert made == (TOP / "docs" / "synthesis.md").read_text(encoding="utf-8")


def test_the_page_of_cells_is_that_of_what_is_recorded() -> None:
    """``python -m scripts.preset_areas`` measures them and writes the page."""
    made = run(
        TOP, "-c", "import json; from scripts.preset_areas import FILE, page; "
        "print(page(json.loads(FILE.read_text(encoding='utf-8'))), end='')",
    )  # fmt: skip
    assert made == (TOP / "docs" / "area.md").read_text(encoding="utf-8")


def test_recorded_cycles_of_presets_are_those_of_the_recorded_workloads() -> None:
    """Those of default presets are recorded twice: here, and where a test holds them."""
    presets = json.loads((TOP / "docs" / "preset_cycles.json").read_text())
    held = json.loads((TOP / "tb" / "system" / "cycles.json").read_text())
    for preset, prefix in (("default", ""), ("r700", "r700/")):
        for name, cycles in presets[preset].items():
            assert abs(cycles / held[prefix + name]["50"] - 1) < 0.03, (preset, name)


@pytest.mark.slow
def test_the_picture_of_the_readme_is_what_its_job_makes(tmp_path: Path) -> None:
    pictures = TOP / "docs" / "pictures"
    run(tmp_path, "-m", "ctm", "run", str(pictures / "julia.toml"), "-o", str(tmp_path))
    made, kept = (np.asarray(Image.open(folder / "julia.png")) for folder in (tmp_path, pictures))
    assert np.array_equal(made, kept)


CUDA_ON_HOST = """
#include <algorithm>
#define __global__
using std::max, std::min;
struct dim3 { int x, y; };
static dim3 blockIdx, blockDim = {16, 16}, threadIdx;
%s
extern "C" void launch(const float *picture, float *out, int width, int height, float amount) {
    for (blockIdx.y = 0; blockIdx.y * 16 < height; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x * 16 < width; blockIdx.x++)
            for (threadIdx.y = 0; threadIdx.y < 16; threadIdx.y++)
                for (threadIdx.x = 0; threadIdx.x < 16; threadIdx.x++)
                    smooth(picture, out, width, height, amount);
}
"""
COMPARED = """
import ctypes
import numpy as np
from smooth import smooth

picture = np.random.default_rng(1).random((37, 64), np.float32)
cuda = np.zeros_like(picture)
library = ctypes.CDLL("./cuda_on_host.so")
pointers = [ctypes.c_void_p(array.ctypes.data) for array in (picture, cuda)]
library.launch(*pointers, 64, 37, ctypes.c_float(0.25))
assert cuda.any() and np.array_equal(smooth[64, 37](picture, 0.25).view(np.uint32), cuda.view(np.uint32))
np.save("picture.npy", picture)
np.save("expected.npy", cuda)
"""
SMOOTH_JOB = """
program = {file = "smooth.c"}
domain = {i = [0, 63], j = [0, 36]}
inputs = [{index = 0, file = "picture.npy", format = "FLOAT32_1"}]
outputs = [{index = 0, file = "out.npy", shape = [37, 64], format = "FLOAT32_1"}]
constants = {float = {0 = [0.25, 0.0, 0.0, 0.0]}}
"""


@pytest.mark.slow
def test_the_kernels_for_cuda_in_python_and_in_c_give_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "cuda_on_host.cc").write_text(CUDA_ON_HOST % block("cuda.md", "cuda"))
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(["g++", *flags, "-o", "cuda_on_host.so", "cuda_on_host.cc"], cwd=tmp_path, check=True)
    (tmp_path / "smooth.py").write_text(block("cuda.md", "python"))
    run(tmp_path, "-c", COMPARED)
    (tmp_path / "smooth.c").write_text(block("cuda.md", "c"))
    (tmp_path / "smooth.toml").write_text(SMOOTH_JOB)
    run(tmp_path, "-m", "ctm", "run", "smooth.toml")
    found, expected = (np.load(tmp_path / f"{name}.npy").ravel() for name in ("out", "expected"))
    assert np.array_equal(found.view(np.uint32), expected.view(np.uint32))


def follow(page: str, folder: Path, module: str, planted: tuple[str, str] = ("", "")) -> None:
    """Run the test of a page's worked example: its first block is a module, its second one the module's test."""
    source, test = blocks(page, "python")
    name = module.rpartition(".")[2]
    assert planted[0] in source
    (folder / f"{name}.py").write_text(source.replace(*planted))
    (folder / f"test_{name}.py").write_text(test.replace(f"from {module} ", f"from {name} "))
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(folder), "--import-mode=prepend"]
    printed = run(folder, "-m", "pytest", *options, f"test_{name}.py")
    assert re.search(r"^\d+ passed", printed, re.MULTILINE), printed


@pytest.mark.slow
def test_the_example_of_a_unit_passes_its_test(tmp_path: Path) -> None:
    follow("howto/unit.md", tmp_path, "ctm.rtl.lib.ones_counter")


@pytest.mark.slow
def test_the_example_of_a_unit_finds_the_mistake_that_the_page_plants(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="test_every_word_is_counted_in_order"):
        follow(
            "howto/unit.md",
            tmp_path,
            "ctm.rtl.lib.ones_counter",
            ("word.ready.eq(count.ready | ~count.valid)", "word.ready.eq(1)"),
        )


@pytest.mark.slow
def test_the_example_of_a_client_passes_its_test(tmp_path: Path) -> None:
    follow("howto/cache-client.md", tmp_path, "ctm.rtl.mc.word_reader")


def test_the_example_of_an_engine_runs(tmp_path: Path) -> None:
    run(tmp_path, "-c", "\n".join(blocks("howto/engine.md", "python")))


MADE_PINS = """
from ctm.rtl.board.startup import Step
from ctm.sim.boards.design import pins

assert EXAMPLE.clock(None) == 35_000_000
made = pins(EXAMPLE, data_bits=64, frequency=35_000_000, steps=(Step(address=0, value=0),))
sites = [line for line in made.constraints.splitlines() if line.startswith("LOCATE")]
assert len(sites) == len(set(sites)) == 5 + 1 + 1 + 13 + 2 + 4 + 2 + 16, len(sites)
"""


def test_the_example_of_a_board_has_its_pins(tmp_path: Path) -> None:
    run(tmp_path, "-c", "\n".join([*blocks("howto/board.md", "python"), MADE_PINS]))


LESS_THAN = r"""
import numpy as np
from ctm import PRESETS, CommandBuffer, DataFormat, Device, Layout, assemble, disassemble
from ctm.rtl.isa.r700.alu import Op2
from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.rtl.r700.code.controls import control
from ctm.rtl.r700.border.lane import Source
from ctm.tb.golden.r700.scalar.selection import VALUES

SOURCE = ".isa r700\n.type ps\nSETLT R1.x, R0.x, R0.y\nEXPORT_DONE PIX0, R1.x000"
program = assemble(SOURCE)
assert "SETLT" in disassemble(program)
layout = Layout(width=8, height=8, format=DataFormat.FLOAT32_4)
for engine in ("golden", "fast"):
    device = Device(engine, PRESETS["r700"])
    y = device.image(layout)
    commands = CommandBuffer().set_inst_fmt(device.place(program)).set_domain(0, 0, 7, 7)
    commands.set_out_fmt(0, y.base, layout.format_word, layout.height)
    device.run(commands.start_program().flush_out_cache())
    j, i = np.indices((8, 8))
    assert np.array_equal(y.read()[..., 0], (i < j).astype(np.float32)), engine
assert (VALUES["SETLT"](0, 1 << 30), VALUES["SETLT"](1 << 30, 0)) == (0x3F800000, 0)
fields = control(OPERATIONS[Op2.SETLT])
assert (fields["if_true"], fields["accepts"]["less"], fields["accepts"]["equal"]) == (Source.ONE, 1, 0)
"""


@pytest.mark.slow
def test_the_example_of_an_r700_operation_runs(tmp_path: Path) -> None:
    """In a copy of the project, in which each change is made after the line that the page names."""
    for folder in ("rtl", "sim", "src", "examples", "tb/golden"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(TOP / folder, tmp_path / folder, symlinks=True, ignore=ignored)
    text = (TOP / "docs" / "howto" / "instruction.md").read_text(encoding="utf-8")
    changes = re.findall(
        r"^\*\*\d\. [^`]*`(\S+?)`[^`]*?(?:`[^`\n]+`[^`]*?)*?^```python\n(.*?)^```\n\ninsert\n\n```python\n(.*?)^```$",
        text, re.MULTILINE | re.DOTALL,
    )  # fmt: skip
    assert len(changes) == 5
    for file, after, added in changes:
        path = tmp_path / file
        assert path.read_text().count(after) == 1, (file, after)
        path.write_text(path.read_text().replace(after, after + added))
    run(tmp_path, "-c", LESS_THAN, sources=tmp_path / "src")


def test_the_trail_of_an_r5xx_operation_is_complete() -> None:
    """The files that know CMP are those of the page, and some of assembler, compiler and tests that know classes."""
    text = (TOP / "docs" / "howto" / "instruction.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| \d+ \| `(\S+)` \|", text, re.MULTILINE)
    assert len(named) == 11
    for name in named:
        assert re.search(r"\bCMP\b", (TOP / name).read_text()), name
    known = {
        str(path.relative_to(TOP))
        for folder in ("rtl", "sim/golden", "sim/engines")
        for path in (TOP / folder).rglob("*.py")
        if re.search(r"\bCMP\b", path.read_text())
    }
    assert known <= set(named)


def test_files_that_pages_name_are_there() -> None:
    for path in NEW_PAGES:
        for name in re.findall(r"`((?:rtl|sim|tb|scripts|docs|examples)/[\w./-]*)`", prose(path)):
            assert (TOP / name).exists() or name in INVENTED, f"{name_of(path)}: {name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_that_are_shown_are_known(path: Path) -> None:
    """Subcommands and options of ``ctm``, and folders of ``scripts/test``; what an older version had is in the log."""
    shown = "\n".join(re.findall(r"^```\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
    for name, arguments in re.findall(r"^(?:\$ |\.venv/bin/)?ctm ([a-z]+)(.*?)(?:  #.*)?$", shown, re.MULTILINE):
        assert name in OPTIONS, f"{name_of(path)}: ctm {name}"
        unknown = set(re.findall(r"(?<= )--?[a-z][\w-]*", arguments)) - OPTIONS[name]
        assert not unknown, f"{name_of(path)}: ctm {name} {' '.join(unknown)}"
    for folders in re.findall(r"^scripts/test ([^#-]*)", shown, re.MULTILINE):
        assert all((TOP / folder).exists() for folder in folders.split()), f"{name_of(path)}: {folders}"


def test_units_in_the_drawing_are_in_the_hardware() -> None:
    drawing = blocks("overview.md", "mermaid")[0]
    units = set(re.findall(r"\b(?:[A-Z][a-z]+){2,}\b", drawing)) | {"Machine", "Array", "Core", "Outputs"}
    sources = "\n".join(path.read_text() for path in (TOP / "rtl").rglob("*.py"))
    assert len(units) > 15
    assert not [unit for unit in units if not re.search(rf"^class {unit}\b", sources, re.MULTILINE)]


def test_what_is_cited_is_this_version() -> None:
    (version,) = re.findall(r'^version = "(.+)"$', (TOP / "pyproject.toml").read_text(), re.MULTILINE)
    assert f"\nversion: {version}\n" in (TOP / "CITATION.cff").read_text()

"""Files that are not of the kind that a command takes: one line has what they are, and which command takes them."""

from pathlib import Path

import pytest

from ctm.examples.catalogue import FOLDER
from ctm.tb.cli.invocation import ctm, error_line
from ctm.tb.jobs.folder import Folder

KERNEL = "#include <ctm/kernel.h>\nkernel void one(vec2 pixel) { output(0, vec4(1, 1, 1, 1)); }\n"
TAKES = {
    "elf": "an executable: ctm disasm and ctm info read it",
    "c": "a kernel: ctm cc compiles it",
    "py": "a kernel: ctm cc compiles it",
    "s": "a source in assembly: ctm asm assembles it",
    "toml": "a job: ctm run runs it",
    "json": "a compiled program: ctm import makes an executable of it",
}
FILES = {"c": "blur/blur.c", "py": "blur/blur.py", "s": "blur/blur.s", "toml": "blur/blur.toml",
         "json": "compiled/sincos.json", "elf": "r700/compilers/mandelbrot.elf"}  # fmt: skip
GIVEN = [
    (command, kind)
    for command, own in (("asm", "s"), ("cc", "c py"), ("disasm", "elf"), ("info", "elf"), ("import", "json elf"))
    for kind in FILES
    if kind not in own.split()
]


@pytest.mark.parametrize(("command", "kind"), GIVEN)
def test_a_file_of_another_kind_is_named(tmp_path: Path, command: str, kind: str) -> None:
    file = FOLDER / FILES[kind]
    output = ["-o", tmp_path / "a.elf"] if command in ("asm", "cc", "import") else []
    assert error_line(command, file, *output) == f"error: {file}: it is {TAKES[kind]}\n"
    assert list(tmp_path.iterdir()) == []


def test_the_contents_of_a_file_say_more_than_its_name(tmp_path: Path) -> None:
    named = tmp_path / "kernel.s"
    named.write_text(KERNEL)
    assert TAKES["c"] in error_line("asm", named, "-o", tmp_path / "a.elf")
    named.write_bytes((FOLDER / FILES["elf"]).read_bytes())
    assert TAKES["elf"] in error_line("asm", named, "-o", tmp_path / "a.elf")


def test_a_source_of_any_name_is_assembled(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("OUT o0 = MOV(r0)\n")
    assert ctm("asm", tmp_path / "a.c", "-o", tmp_path / "a.elf").exit_code == 0


@pytest.mark.parametrize("name", ["x.npy", "picture.PNG"])
def test_a_job_is_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x89PNG\xff")
    file = tmp_path / name
    assert error_line("run", file) == f"error: {file}: it is no job, which is a TOML file\n"


@pytest.mark.parametrize(("option", "name", "endings"), [
    ("--timeline", "t.txt", ".json or .json.gz"), ("--timeline", "t.gz", ".json or .json.gz"),
    ("--report", "page", ".html or .htm"),
])  # fmt: skip
def test_files_of_observations_have_their_endings(tmp_path: Path, option: str, name: str, endings: str) -> None:
    job, file = Folder.make(tmp_path).job, tmp_path / "new" / name
    assert error_line("run", job, option, file) == f"error: {option} {file}: its name must end in {endings}\n"
    assert not file.parent.exists() and not (tmp_path / "y.npy").exists()


def test_the_page_of_a_sweep_has_its_ending(tmp_path: Path) -> None:
    table, page = tmp_path / "t.parquet", tmp_path / "p.txt"
    said = error_line("sweep", FOLDER / "sweep/sweep.toml", "-o", table, "--page", page)
    assert said == f"error: --page {page}: its name must end in .html or .htm\n"

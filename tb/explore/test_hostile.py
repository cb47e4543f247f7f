"""Hostile sources and jobs are harmless: they see nothing outside of their folder, and end."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm.sim.explore.explorer import explored
from ctm.sim.explore.folder import includes
from ctm.sim.explore.limits import Limits
from ctm.sim.explore.request import MOST_TEXT, Explored, Request
from ctm.sim.explore.response import respond
from ctm.tb.explore.hostile import BODY, HEADER, INCLUDES, OTHERS, PASSWORDS, QUESTIONS, SECRET, folder, source


def told(request: Request, scratch: Path) -> Explored:
    """The response, in which nothing is secret."""
    scratch.mkdir()
    found = respond(request, scratch)
    text = repr(found)
    assert SECRET not in text and "root:" not in text
    return found


def messages(found: Explored) -> list[str]:
    return [each.message for program in found.programs for each in program.problems if not each.is_warning]


def of_c(text: str, inside: Path) -> Request:
    return Request(text=source(text, inside), name="kernel.c", folder=str(inside))


@pytest.mark.parametrize("name", INCLUDES)
def test_an_include_of_a_file_outside_finds_none(tmp_path: Path, name: str) -> None:
    found = told(of_c(INCLUDES[name], folder(tmp_path)), tmp_path / "scratch")
    assert messages(found) and all("file not found" in each for each in messages(found)), messages(found)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_file_outside_is_not_there(tmp_path: Path, name: str) -> None:
    found = told(of_c(QUESTIONS[name], folder(tmp_path)), tmp_path / "scratch")
    assert messages(found) == [] and all(program.instructions for program in found.programs)


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_else_says_what_a_file_outside_holds(tmp_path: Path, name: str) -> None:
    told(of_c(OTHERS[name], folder(tmp_path)), tmp_path / "scratch")


def test_assembly_in_a_kernel_is_an_error(tmp_path: Path) -> None:
    inside = folder(tmp_path)
    text = f'{HEADER}kernel void f(vec2 p) {{ asm volatile(".incbin \\"{PASSWORDS}\\""); output(0, vec4(p.x)); }}'
    found = told(Request(text=text, name="kernel.c", folder=str(inside)), tmp_path / "scratch")
    assert len(messages(found)) == 2


def test_own_includes_are_found_and_only_those(tmp_path: Path) -> None:
    inside = folder(tmp_path)
    (inside / ".hidden").mkdir()
    (inside / ".hidden" / "x.h").write_text("")
    (inside / "loop").symlink_to("loop")
    assert includes(inside).keys() == {"own.h", "own_link.h"}
    found = told(of_c('#include "own.h"\n#include "own_link.h"\nfloat one = ONE;', inside), tmp_path / "scratch")
    assert messages(found) == []


def test_without_a_folder_there_are_no_own_includes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder(tmp_path))
    found = told(Request(text=f'#include "own.h"\n{HEADER}{BODY}', name="kernel.c"), tmp_path / "scratch")
    assert all("'own.h' file not found" in each for each in messages(found))


def test_a_fault_does_not_show_the_line_of_another_file(tmp_path: Path) -> None:
    """A `#line` may name any file; messages show the source's line of a fault."""
    inside = folder(tmp_path)
    loop = f'# 1 "{inside.parent}/secret.h"\nkernel void f(vec2 p) {{ float x = p.x;\nfor (;;) x = x * 0.5 + 1; }}\n'
    request = Request(text=HEADER + loop, name="k.c", folder=str(inside), isa="r5xx", engine="golden")
    found = told(replace(request, job='[program]\nfile = "k.c"\n[domain]\ni = [0, 3]\nj = [0, 3]\n'), tmp_path / "s")
    assert found.run is None


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.system('touch {mark}')\n",
        "from pathlib import Path\nPath('{mark}').touch()\n",
        "__import__('pathlib').Path('{mark}').touch()\n",
        "class X:\n    open('{mark}', 'w')\n",
        "import secret\n",
        "x: open('{mark}', 'w') = 1\n",
    ],
)
def test_a_python_file_is_never_executed(tmp_path: Path, text: str) -> None:
    inside, mark = folder(tmp_path), tmp_path / "mark"
    (inside / "secret.py").write_text(f"open({str(mark)!r}, 'w')")
    kernel = (
        "from ctm import kernel\nfrom ctm.language import vec2\n@kernel\ndef f(p: vec2) -> float:\n    return p.x\n"
    )
    source = text.format(mark=mark) + kernel
    found = told(Request(text=source, name="k.py", folder=str(inside)), tmp_path / "scratch")
    assert messages(found) == [] and not mark.exists()


@pytest.mark.parametrize(
    "line", ["import os", "from os import getpid as f", "from .secret import f", "from helper import f"]
)
def test_a_python_kernel_uses_no_other_module(tmp_path: Path, line: str) -> None:
    used = "os.getpid()" if line == "import os" else "f()"
    kernel = f"{line}\nfrom ctm import kernel\nfrom ctm.language import vec2\n@kernel\ndef g(p: vec2) -> float:\n"
    request = Request(text=f"{kernel}    return {used}\n", name="k.py", folder=str(folder(tmp_path)))
    assert len(messages(told(request, tmp_path / "scratch"))) == 2


@pytest.mark.parametrize(
    "text", ["x = " + "(" * 5000 + ")" * 5000, "x = 9 ** 9 ** 9 ** 9", "x = " + "-" * 100_000 + "1"]
)
def test_python_that_is_nested_or_large_has_errors(tmp_path: Path, text: str) -> None:
    kernel = "from ctm import kernel\nfrom ctm.language import vec2\n@kernel\ndef f(p: vec2) -> float:\n    return x\n"
    assert messages(told(Request(text=f"{text}\n{kernel}", name="k.py"), tmp_path / "scratch"))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (PASSWORDS, "is not in the kernel's folder"),
        ("../secret.npy", "is not in the kernel's folder"),
        ("link.npy", "is not in the kernel's folder"),
        ("nothing.npy", "there is no file 'nothing.npy'"),
        ("/dev/zero", "is not in the kernel's folder"),
    ],
)
def test_a_job_reads_no_file_outside(tmp_path: Path, file: str, message: str) -> None:
    inside = folder(tmp_path)
    np.save(tmp_path / "secret.npy", np.zeros((4, 4, 4), np.float32))
    (inside / "link.npy").symlink_to(tmp_path / "secret.npy")
    job = f'[program]\nfile = "k.s"\n[domain]\ni = [0, 3]\nj = [0, 3]\n[[inputs]]\nindex = 0\nfile = "{file}"\n'
    job += 'format = "FLOAT32_4"\n'
    text = "    OUT o0 = MOV(r0)\n"
    request = Request(text=text, name="k.s", folder=str(inside), job=job, isa="r5xx", engine="golden")
    found = told(request, tmp_path / "scratch")
    (problem,) = found.problems
    assert message in problem.message


def test_a_source_or_a_job_that_is_huge_is_not_looked_at() -> None:
    for text, job in (("x" * (MOST_TEXT + 1), ""), ("", "x" * (MOST_TEXT + 1))):
        with pytest.raises(ValueError, match="characters; 262,144 are looked at"):
            Request(name="k.c", text=text, job=job)


def test_half_of_a_surrogate_pair_is_told_before_it_is_sent() -> None:
    for text in ("a\n\ud800", "\ud800\ud800"):
        with pytest.raises(ValueError, match=f"half of a surrogate pair in line {text.count(chr(10)) + 1}"):
            Request(text=text, name="x.py")
    assert Request(text="\U0001f600", name="x.py").text


ENDLESS = {
    "includes": ('#include "self.h"\n#include "self.h"\n', "self.h"),
    "macros": ("".join(f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(40)) + "#define A40 1\nA0\n", ""),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_preprocessor_that_does_not_end_is_ended(tmp_path: Path, name: str) -> None:
    text, header = ENDLESS[name]
    if header:
        (tmp_path / header).write_text(text)
    request = Request(text=HEADER + text + BODY, name="k.c", folder=str(tmp_path))
    found = explored(request, Limits(seconds=1.0))
    assert found.failure.startswith(("it did not end within 1 s", "it takes more than")) or found.programs[0].problems


LOOP = f"""{HEADER}kernel void f(vec2 p) {{
    float x = p.x;
    while (x > -1)
        x = x * 0.5f + 1;
    output(0, vec4(x));
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "whole", "seconds"), [("auto", True, 10.0), ("golden", False, 1.5)])
def test_a_kernel_that_does_not_end_is_ended(engine: str, whole: bool, seconds: float) -> None:
    """By the watchdog, which names the line, or by time."""
    request = Request(text=LOOP, name="k.c", isa="r700", engine=engine, whole=whole)
    found = explored(request, Limits(seconds=seconds))
    if found.problems:
        (problem,) = found.problems
        assert "WATCHDOG" in problem.message and problem.line in (4, 5)
    else:
        assert found.failure == f"it did not end within {seconds:g} seconds"


def test_a_job_that_wants_too_much_memory_is_ended() -> None:
    output = '[[outputs]]\nindex = 0\nfile = "y.npy"\nshape = [4096, 4096]\nformat = "FLOAT32_4"\nfill = 1.0\n'
    job = f'[program]\nfile = "k.s"\n[domain]\ni = [0, 3]\nj = [0, 3]\n{output}'
    request = Request(text="    OUT o0 = MOV(r0)\n", name="k.s", job=job, isa="r5xx", engine="golden")
    assert explored(request, Limits(memory=1 << 28)).failure == "it takes more than 256 MiB of memory"

"""The examples of the README work as they stand there. Its links and options: tb/test_documents.py."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ctm.tb.cli.invocation import ctm

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text()
COMMANDS = re.findall(r"^\.venv/bin/ctm (.*?)(?: {2,}#.*)?$", README, re.MULTILINE)


def block(language: str) -> str:
    """The one code block in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return str(found)


_SMALL = """
import functools, ctm
from ctm.tb.lib.machines import BEATS
ctm.Device = functools.partial(ctm.Device, config=BEATS)
"""
"""Makes the default machine one that the suite compiles in any case."""


def test_the_python_example_runs(tmp_path: Path, is_long: bool) -> None:
    (tmp_path / "scale.s").write_text(block("asm"))
    program = (
        ("" if is_long else _SMALL) + block("python") + "\nassert (y.read() == 2 * x.read()).all() and y.read().any()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_the_first_command_makes_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP)
    first = shlex.split(COMMANDS[0])
    assert first[:1] == ["run"] and first[2:] == ["-o", "out"]
    assert ctm(*first[:3], tmp_path).exit_code == 0
    assert (tmp_path / "julia.png").read_bytes().startswith(b"\x89PNG")


def test_every_extra_is_one_of_the_package() -> None:
    extras = {extra for found in re.findall(r"'\.\[(\S+?)\]'", README) for extra in found.split(",")}
    known = re.findall(r"^(\w+) = \[$", (TOP / "pyproject.toml").read_text(), re.MULTILINE)
    assert extras and extras <= set(known)


def test_clocks_are_those_of_the_document_of_boards() -> None:
    recorded = (TOP / "docs" / "fpga.md").read_text()
    found = re.search(r"with ([\d.]+) and ([\d.]+) MHz by nextpnr", README)
    assert found and all(f"**{clock} MHz** after routing" in recorded for clock in found.groups())

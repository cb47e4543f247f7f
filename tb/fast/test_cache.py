"""Compiled programs that are kept: damaged ones, folders that cannot be written, and what a program's key has."""

import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.r5xx.program import US_CONFIG
from ctm.rtl.isa.word import pack
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.engines.fast import compiler
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.fast.host import BASELINE, Host
from ctm.sim.runtime import CommandBuffer
from ctm.tb.fast.comparison import Task, check
from ctm.tb.fast.tasks import SUM, Made
from ctm.tb.r5xx.machine import move
from ctm.tb.r5xx.statements import add

SMALL = (1, 1, 50, 9)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiler._tell_of.cache_clear()
    return tmp_path / "ctm"


def run(task: Task | None = None, host: Host | None = None) -> None:
    assert check(task or Made(program=SUM).task(SMALL), host or Host.this()) == []


def compiled(folder: Path) -> Path:
    """The one file that is there, which is made if it is not."""
    run()
    (file,) = folder.iterdir()
    return file


def test_a_program_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = compiled(folder)
    monkeypatch.setattr(compiler, "_compiled", None)
    assert compiled(folder) == file


def flip(file: Path) -> None:
    """A bit of each section, with the same size."""
    data = np.frombuffer(file.read_bytes(), np.uint8).copy()
    data[:: data.size // 50] ^= 0x40
    file.write_bytes(data.tobytes())


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def lose_the_end(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def fill_with_zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def take_another(file: Path) -> None:
    run(Made(program=[add(0), *SUM[:-1], move(0, 1, output=0)]).task(SMALL))
    (other,) = (each for each in file.parent.iterdir() if each != file)
    other.replace(file)


@pytest.mark.parametrize("damage", [flip, truncate, lose_the_end, empty, fill_with_zeros, take_another])
def test_a_damaged_file_is_made_again(
    folder: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    file = compiled(folder)
    whole = file.read_bytes()
    damage(file)
    assert compiled(folder) == file
    assert caplog.messages == [f"{file} is damaged and is made again"]
    assert file.read_bytes() == whole


def test_a_file_that_is_lost_is_made_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = compiled(folder)
    shutil.rmtree(folder)
    assert compiled(folder) == file
    assert caplog.messages == []


def test_where_nothing_can_be_kept_programs_run_and_a_line_says_so(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> Path:
        raise ToolchainError(f"{folder}: No space left on device")

    monkeypatch.setattr(compiler, "cached", full_disk)
    for group in (4, 8):
        run(Made(program=SUM, group=group).task(SMALL))
    assert caplog.messages == [f"{folder}: No space left on device; compiled programs are not kept"]
    assert caplog.records[0].levelno == logging.WARNING


class Asked(Exception):  # noqa: N818 - it is what the test wants
    """A program was looked for."""


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What programs were looked for by; none is compiled."""
    asked: list[tuple[str, ...]] = []

    def cached(kind: str, key: tuple[str, ...], *_: object) -> Path:
        asked.append(key)
        raise Asked

    monkeypatch.setattr(compiler, "cached", cached)
    return asked


BASE = Made(program=SUM)


def before(change: Callable[[CommandBuffer], Any]) -> Made:
    buffer = CommandBuffer()
    change(buffer)
    return replace(BASE, before=buffer)


THIS = Host.this(8)
OTHERS = {
    "code": (replace(BASE, program=[add(1), *SUM[1:]]), THIS),
    "another last instruction": (replace(BASE, program=[*SUM, move(0, 1, output=0)]), THIS),
    "temporaries": (replace(BASE, information={"highest_temporary": 1}), THIS),
    "the rule of zeros": (replace(BASE, information={"us_config": pack(US_CONFIG, zero_times_anything=1)}), THIS),
    "no full flow control": (replace(BASE, information={"us_fc_ctrl": 0}), THIS),
    "a program's conditional value": (replace(BASE, information={"fg_depth_src": 1}), THIS),
    "output mask": (before(lambda commands: commands.set_out_mask(red=False)), THIS),
    "test": (before(lambda commands: commands.set_cond_test(ConditionalTest.NEVER)), THIS),
    "format": (replace(BASE, format=DataFormat.FLOAT32_4), THIS),
    "tiling": (replace(BASE, tiling=Tiling.TILED), THIS),
    "groups": (replace(BASE, group=8), THIS),
    "width": (BASE, Host.this(16)),
    "no fused multiply-add": (BASE, replace(THIS, fused=False)),
    "registers": (BASE, replace(THIS, register=THIS.register // 2)),
    "features": (BASE, replace(THIS, features=THIS.features + ",-avx")),
    "processor": (BASE, replace(THIS, cpu=BASELINE.cpu)),
}


def start(made: Made, host: Host, domain: tuple[int, int, int, int] = SMALL) -> None:
    task = made.task(domain)
    with pytest.raises(Asked):
        task.on(FastEngine(task.config, watchdog=task.watchdog, host=host))


def test_everything_that_code_depends_on_makes_another_key(keys: list[tuple[str, ...]]) -> None:
    start(BASE, THIS)
    for made, host in OTHERS.values():
        start(made, host)
    assert len(keys) == len(OTHERS) + 1
    names = ("the usual", *OTHERS)
    for number, key in enumerate(keys):
        assert keys.index(key) == number, f"{names[number]} has the key of {names[keys.index(key)]}"


def test_what_code_is_told_when_it_runs_makes_no_other_key(keys: list[tuple[str, ...]]) -> None:
    start(BASE, THIS)
    start(replace(BASE, floats=(3.0, 4.0, 5.0), rounds=2, watchdog=100), THIS)
    start(replace(BASE, size=(600, 300)), THIS, (5, 5, 500, 9))
    start(before(lambda commands: commands.append("set_cond_val", 0x1234)), THIS)
    assert len(keys) == 4
    assert len(set(keys)) == 1


def test_the_sources_are_in_the_key(keys: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    start(BASE, THIS)
    monkeypatch.setattr(compiler, "_sources", lambda: "changed")
    start(BASE, THIS)
    assert len(set(keys)) == 2

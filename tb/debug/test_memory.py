"""Elements of images and words of memory are read, set, and restored in reverse execution."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ctm.sim.debug.console import Console
from ctm.sim.debug.debugger import Debugger
from ctm.sim.debug.error import DebugError
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.tb.debug.jobs import DIVERGENT, config_of, example, program, race

COPY = """
TEX r1 = LOOKUP(i0, r0) unscaled
ALU r1.r = ADD(r1.r, c0.b)
OUT o0 = MOV(r1)
"""
INPUT = '[[inputs]]\nindex = 0\nfile = "x.npy"\nformat = "FLOAT32_4"\n'


def copying(folder: Path) -> LoadedJob:
    """A program that adds one to the red of an image."""
    np.save(folder / "x.npy", np.arange(128, dtype=np.float32).reshape(4, 8, 4))
    program(DIVERGENT, folder)
    (folder / "p.s").write_text(COPY)
    job = folder / "job.toml"
    job.write_text(job.read_text() + INPUT)
    return load_job(job)


def debugger(job: LoadedJob, **options: Any) -> Debugger:
    return Debugger(job, config_of(job), **options)


def lines(session: Debugger, *commands: str) -> list[str]:
    said: list[str] = []
    console = Console(session, said.append)
    for command in commands:
        console.onecmd(command)
    return "\n".join(said).splitlines()


def test_an_element_that_is_set_is_what_the_program_reads(tmp_path: Path) -> None:
    with debugger(copying(tmp_path)) as session:
        assert session.image("i0")[2, 5].tolist() == [84, 85, 86, 87]
        assert lines(session, "set i0[5,2].r = 7.5", "print i0[5,2].r") == ["i0[5,2].r = 7.5 (0x40f00000)"]
        session.go_on()
        assert session.result is not None
        output = session.result.outputs[0]
        assert output[2, 5].tolist() == [8.5, 85, 86, 87] and output[2, 4].tolist() == [81, 81, 82, 83]


def test_what_was_set_is_undone_in_reverse_execution(tmp_path: Path) -> None:
    with debugger(copying(tmp_path)) as session:
        session.step()
        before = session.image("i0")
        session.store("i0[0,0]", 0x3F80_0000, "x")
        session.store("i0[0,0]", 0x4000_0000, "y")
        session.store("o0[0,0]", 0x4040_0000, "w")
        assert session.image("i0")[0, 0].tolist() == [1, 2, 2, 3] and session.image("o0")[0, 0, 3] == 3
        session.finish()
        assert session.image("o0")[0, 0].tolist() == [1, 1, 2, 3], "it had been read already"
        session.back(1)
        assert session.image("i0")[0, 0].tolist() == [1, 2, 2, 3] and session.image("o0")[0, 0, 3] == 3
        session.back(session.position.step)
        assert np.array_equal(session.image("i0"), before) and session.image("o0")[0, 0, 3] == 0


def test_stores_of_the_program_are_undone_after_what_was_set(tmp_path: Path) -> None:
    """The program stores to the same element before and after it."""
    with debugger(race(tmp_path)) as session:
        stop = session.watch("o0[3,2]")
        assert session.go_on().stop is stop
        session.store("o0[3,2]", 0x42C6_0000)
        stored = session.position.step
        session.finish()
        finished = session.image("o0")[2, 3, 0]
        assert finished != 99
        session.back(session.position.step - stored)
        assert session.image("o0")[2, 3, 0] == 99
        session.back(1)
        assert session.image("o0")[2, 3, 0] != 99


def test_a_word_of_memory_is_set_and_watched_for_in_conditions(tmp_path: Path) -> None:
    with debugger(race(tmp_path)) as session:
        session.go_to(session.position._replace(wavefront=1))
        base = session.started.launch.outputs[0].base
        found = lines(session, f"set *{base + 64:#x} = 5.0", f"print *{base + 64}", f"print memory[{base + 64}] == 5")
        assert found == [f"*{base + 64} = 5 (0x40a00000)", f"memory[{base + 64}] == 5 = True"]
        session.stop_at("if o0[3,2] > 2.5")
        assert session.go_on().reason == "breakpoint"
        assert session.image("o0")[2, 3, 0] == 3


def test_an_image_of_integers_takes_numbers(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    job = tmp_path / "job.toml"
    job.write_text(job.read_text().replace("FLOAT32_4", "UINT8_4"))
    with debugger(load_job(job)) as session:
        assert lines(session, "set o0[1,1].b = 1.0", "print o0[1,1]") == [
            "o0[1,1] = r 0 (0x00000000)  g 0 (0x00000000)  b 1 (0x3f800000)  a 0 (0x00000000)"
        ]


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("set o0[9,0].r = 1", "o0 has no element (9, 0): it is 8 x 4"),
        ("set o0[1,0] = 1", "the element has 4 channels: say which one, as in .x"),
        ("set o0[1,0].k = 1", "there is no channel k; there is: x, y, z, w"),
        ("set o7[1,0].r = 1", "there is no image o7; there is: o0"),
        ("set o0[1,0].r = 1 all", "o0[1,0].r is no channel of a register: R1.x = VALUE, with `all` after it for all"),
        ("set *0xffffffff = 1", "*0xffffffff is no address: there are 4 GiB"),
        ("set *0x40.x = 1", "a word of memory has no channel x"),
        ("set r1 = 1", "r1 is no channel of a register"),
        ("print conditional[0,0]", "there is no image conditional; there is: o0"),
        ("image", "image takes one of: o0"),
        ("image i3", "there is no image i3"),
        ("image o0 x.bmp", "x.bmp: a picture's name ends in .png"),
        ("image o0 /nowhere/x.png", "/nowhere/x.png: No such file or directory"),
    ],
)
def test_what_is_not_there_is_one_line(command: str, error: str, tmp_path: Path) -> None:
    with debugger(program(DIVERGENT, tmp_path)) as session:
        (found,) = lines(session, command)
        assert found.startswith(f"error: {error}")


def test_an_image_is_shown_around_the_lane_and_saved(tmp_path: Path) -> None:
    with debugger(copying(tmp_path)) as session:
        found = lines(session, "lane 3", "image i0", f"image i0 {tmp_path / 'x.png'}")
        assert found[1] == "i0: 8 x 4 FLOAT32_4, (0, 0) to (7, 3), + is (1, 1)"
        assert [len(row) for row in found[2:6]] == [8] * 4 and found[3][1] == "+" and found[2][0] == " "
        assert found[5][7] == "@" and found[6] == f"{tmp_path / 'x.png'}: 8 x 4"
    picture = np.asarray(Image.open(tmp_path / "x.png"))
    assert picture.shape == (4, 8, 3) and picture[0, 0].tolist() == [0, 2, 4] and picture[3, 7, 2] == 255


@pytest.mark.long
def test_memory_of_hardware_is_not_set() -> None:
    with debugger(example("r700/compaction/compaction", 16, 4), engine="rtl") as session:
        before = session.image("o0")
        with pytest.raises(DebugError, match="nothing of it can be set"):
            session.store("o0[0,0]", 1, "x")
        assert np.array_equal(session.image("o0"), before)

"""The line mode: gdb's names, one line for what is wrong, scripts that end at their first error."""

import codecs
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctm.examples.catalogue import job as job_of
from ctm.sim.debug.console import Console
from ctm.tb.cli.invocation import ctm
from ctm.tb.debug.jobs import DIVERGENT, LONG, LOOP_BY_COLUMN, example, program, session_of
from ctm.tb.debug.terminal import terminal


def said(source: str, folder: Path, *lines: str) -> list[str]:
    """What lines print, of a program of its own."""
    found: list[str] = []
    with session_of(program(source, folder)) as session:
        console = Console(session, found.append)
        for line in lines:
            console.onecmd(line)
    return "\n".join(found).split("\n")


def test_a_story(tmp_path: Path) -> None:
    found = said(
        DIVERGENT, tmp_path, "b wrong if i == 5", "c", "p r2.r", "p/a r2.r", "p i > 4 and r2.r == 1", "rsi 2", "si 2",
        "fin", "i b",
    )  # fmt: skip
    assert found[0] == "breakpoint 1: wrong if i == 5 (unit 7)"
    assert found[1] == "breakpoint 1"
    assert found[2].startswith("launch 0, wavefront 2 of 8, step 7, lane 1 (5, 0) [AAAA]")
    assert found[3] == "p.s:10  wrong: ALU r2.g = MAD(r0.r, r0.g, 0.0)"
    assert "r2.r = 2 (0x40000000)" in found
    assert [each for each in found if each.startswith("lane ")] == [
        "lane 0: 1 (0x3f800000)", "lane 1: 2 (0x40000000)", "lane 2: 1 (0x3f800000)", "lane 3: 2 (0x40000000)",
    ]  # fmt: skip
    assert "i > 4 and r2.r == 1 = False" in found
    assert any("the wavefront has ended after 9 instructions" in each for each in found)
    assert found[-1] == "1  wrong if i == 5 (unit 7)  hit 1 times"


def test_divergence_is_seen_in_the_lanes(tmp_path: Path) -> None:
    found = said(DIVERGENT, tmp_path, "b 6", "b 8", "c", "i masks", "c", "i masks", "bt")
    assert "active         .1.1" in found and "[bAbA]" in " ".join(found)
    assert "active         1.1." in found and "[AbAb]" in " ".join(found)


def test_every_command_has_help_and_unknown_ones_say_so(tmp_path: Path) -> None:
    found = said(
        DIVERGENT, tmp_path, "help", "help c", "frob", "info", "lane 9", "stepi x", "goto 1", "set 3", "pixel 1",
        "set r1.r = x", "print", "  # a remark", "",
    )  # fmt: skip
    names = [each.split()[0] for each in found]
    for name in ("break", "continue", "step", "stepi", "reverse-stepi", "print", "set", "info", "disassemble", "quit"):
        assert name in names
    errors = [each for each in found if each.startswith("error: ")]
    assert len(errors) == 9
    assert errors[0] == "error: there is no command frob; `help` lists them"
    assert errors[1].startswith("error: info takes one of: wavefront, launch, registers")


def test_arguments_of_commands_are_checked(tmp_path: Path) -> None:
    lines = ("b 3", "delete x", "delete 1 x", "tbreak", "list x", "list 99", "disassemble x", "i b", "delete 1", "i b")
    found = said(DIVERGENT, tmp_path, *lines)
    assert found[1:] == [
        "error: delete takes numbers of breakpoints, not 'x'", "error: delete takes numbers of breakpoints, not '1 x'",
        "error: tbreak takes a location", "error: 'x' is no number", "error: p.s has 11 lines",
        "error: disassemble takes `all`, or nothing, not 'x'", "1  3 (unit 0)  hit 0 times", "there is no breakpoint",
    ]  # fmt: skip


def test_at_its_end_a_wavefront_has_the_instructions_before(tmp_path: Path) -> None:
    found = said(DIVERGENT, tmp_path, "goto 0 0 99", "disassemble", "rsi", "next")
    assert found[0].startswith("the wavefront has ended after 9 instructions")
    assert found[2].endswith("(no instruction)")
    assert any("OUT o0" in each for each in found[3:9]) and not any("error" in each for each in found)


def test_expressions_are_those_of_python(tmp_path: Path) -> None:
    rows = {
        "0 <= i < 2": "True", "1 < i < 3": "False", "~3 & 7": "4", "~active": "False", "+7 // 2": "3",
        "uint(-1)": "4294967295", "int(7) + 1": "8", "float(3) / 2": "1.5", "uint(int(c0.r))": "1056964608",
        "int(r1.r * 1)": "error: int() gives the bits of a register, and 'r1.r * 1' is no register but a computed",
        "uint(-c0.r)": "error: uint() gives", "c256": "error: there is no constant c256; there are c0 to c255",
        "not active": "False", "active + active": "2", "-active": "-1", "active - valid": "0",
        "active & ~valid": "False",
               "active / 2": "0.5", "active << 3": "8", "uint(r1)": "error: 'r1' has 4 channels; 'r1.x' is one of them",
        "-" * 9999 + "1": "error: the expression is too long, or no text", "1" + "+1" * 600: "error",
        "\udcff": "error: a text has the character",
    }  # fmt: skip
    for text, expected in rows.items():
        (found,) = said(DIVERGENT, tmp_path, f"print {text}")
        assert found.startswith(expected) or found == f"{text} = {expected}", (text[:20], found[:80])


def test_tab_completes_names_with_a_dash(tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        console = Console(session, print)
        assert console.completenames("rev") == ["reverse-continue", "reverse-step", "reverse-stepi"]
        assert console.completedefault("s", "reverse-s", 8, 9) == ["step", "stepi"]
        assert console.completedefault("", "break ", 6, 6) == []


def test_all_of_a_program_is_shown_and_a_list_marks_the_line(tmp_path: Path) -> None:
    found = said(DIVERGENT, tmp_path, "s", "list", "disassemble all", "info registers", "info constants", "info launch")
    assert "->    4  ALU r1.r, p.r[!=0] = FRC(r1.r)" in found
    assert sum(each.startswith("->") for each in found) == 2
    assert any(each.startswith("r2 ") for each in found) and any(each.startswith("p ") for each in found)
    assert "c0     0.5  2  1  0" in found
    assert found[-1] == "launch 0: p.s, i 0 to 7, j 0 to 3, 8 wavefronts of 4 lanes"


def test_r700_has_its_own_names() -> None:
    found: list[str] = []
    with session_of(example("r700/reduction/reduction")) as session:
        console = Console(session, found.append)
        for line in ("si 12", "i registers", "i masks", "p R0", "p int(R0.x)", "p PV.x", "bt", "p T0.w"):
            console.onecmd(line)
        assert console.error is None
    text = "\n".join(found)
    for name in ("R0 ", "T3 ", "PV ", "PS ", "AR ", "predicate", "branch ", "continue ", "break "):
        assert name in text


def test_the_command_executes_scripts_and_ends_at_the_first_error(tmp_path: Path) -> None:
    script = tmp_path / "commands.txt"
    script.write_text("# to the loop\nbreak *3\ncontinue\nprint r1.g\nquit\nfrob\n")
    result = ctm("debug", job_of("mandelbrot"), "-x", script)
    assert result.exit_code == 0, result.output
    assert "(ctm) print r1.g" in result.stdout and "breakpoint 1" in result.stdout
    script.write_text("stepi\nfrob\nstepi\n")
    result = ctm("debug", job_of("mandelbrot"), "-x", script)
    assert result.exit_code == 2 and "commands.txt:2: frob" in result.stderr
    assert result.stdout.count("(ctm) stepi") == 1
    assert result.output.count("there is no command frob") == 1 and "error" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["none.toml"], "none.toml"), ([str(job_of("saxpy")), "-x", "nowhere.txt"], "nowhere.txt"),
     ([str(job_of("saxpy")), "--set", "array.lanes=3"], "array.lanes")],
)  # fmt: skip
def test_bad_input_is_one_line(arguments: list[str], problem: str) -> None:
    result = ctm("debug", *arguments)
    assert result.exit_code == 2 and problem in result.stderr and result.stderr.count("error: ") == 1


def test_a_script_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    script = tmp_path / "commands.txt"
    script.write_bytes(codecs.BOM_UTF8 + b"stepi\n")
    result = ctm("debug", job_of("saxpy"), "-x", script)
    assert result.exit_code == 0 and "(ctm) stepi" in result.stdout


@pytest.mark.parametrize(
    ("command", "problem"),
    [("stepi 0", "0 is too few"), ("list 0", "0 is too few"),
     ("stepi " + "9" * 5000, "99999999999999999999... has too many digits"),
     ("set o0[" + "9" * 5000 + ",0].r = 1", "99999999999999999999... has too many digits"),
     ("diff a\0b", "a text has the character '\\x00'"),
     ("print o0[1]", "there is no o0[1]: elements have two indices"), ("set r9.x = 1", "there is no register r9"),
     ("set p.r = 1", "p cannot be set; registers can: r0 to r2")],
)  # fmt: skip
def test_what_cannot_be_meant_is_said(command: str, problem: str, tmp_path: Path) -> None:
    with session_of(program(DIVERGENT, tmp_path)) as session:
        console, here = Console(session, lambda _: None), session.position
        console.execute(command)
        assert console.error is not None and console.error.startswith(problem)
        assert session.position == here


def test_steps_back_end_at_the_start_of_the_wavefront(tmp_path: Path) -> None:
    found = said(DIVERGENT, tmp_path, "stepi 3", "reverse-step 4294967296", "reverse-stepi 4294967296")
    assert all("step 0, " in each for each in found if each.startswith("launch 0") and "step 3, " not in each)


def test_a_breakpoint_that_is_never_reached_ends_with_the_job(tmp_path: Path) -> None:
    script = tmp_path / "commands.txt"
    script.write_text("break 8 if i > 100\nwatch r2.a\ncontinue\ncontinue\n")
    program(DIVERGENT, tmp_path)
    result = ctm("debug", tmp_path / "job.toml", "-x", script)
    assert result.exit_code == 2 and result.stdout.splitlines().count("the job has ended") == 1
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert "commands.txt:4: continue: the job has ended" in result.stderr


def test_a_job_that_changes_on_disk_is_the_one_that_was_loaded(tmp_path: Path) -> None:
    found: list[str] = []
    with session_of(program(DIVERGENT, tmp_path)) as session:
        console = Console(session, found.append)
        console.onecmd("stepi 3")
        before, position = session.wavefront.batch.copy(), session.position
        (tmp_path / "p.s").write_text("OUT o0 = MOV(r0)\n")
        (tmp_path / "job.toml").unlink()
        for command in ("run", "stepi 3", "list", "disassemble"):
            console.onecmd(command)
            assert console.error is None
        assert session.position == position and session.wavefront.batch.is_in_state_of(before)
    assert any("r2.r = MAD(r2.r, c0.g, c0.g)" in line for line in found)


def test_commands_come_from_a_pipe() -> None:
    command = [sys.executable, "-m", "ctm", "debug", str(job_of("saxpy"))]
    result = subprocess.run(
        command, input="stepi\nprint r1\n", capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "r1 = r " in result.stdout


def test_a_closed_input_ends_the_session_and_a_job_without_wavefronts_is_said(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m ctm debug {job_of('saxpy')} <&-"
    closed = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert closed.returncode == 0 and not closed.stderr and "launch 0" in closed.stdout
    program("OUT o0 = MOV(r0)", tmp_path)
    job = tmp_path / "job.toml"
    job.write_text(job.read_text().replace("i = [0, 7]", "i = [7, 0]"))
    result = ctm("debug", job)
    assert result.exit_code == 2 and not result.stdout
    assert "is empty" in result.stderr and "no launch has a wavefront" in result.stderr


def test_ctrl_c_ends_a_command_and_not_the_session(tmp_path: Path) -> None:
    """On a terminal: the session is where the command began, and its breakpoints are there."""
    program(LONG, tmp_path, width=512, height=512)
    with terminal("debug", str(tmp_path / "job.toml"), "--preset", "tiny", kind="dumb") as user:
        user.until("(ctm) ")
        user.type("stepi 3\n")
        user.until("step 3")
        user.until("(ctm) ")
        user.type("break 10 if i == 511 and j == 511\n")
        user.until("breakpoint 1")
        user.until("(ctm) ")
        user.type("continue\n")
        time.sleep(0.5)
        user.type("\x03")
        user.until("interrupted; it is again where the command began")
        user.until("step 3")
        user.until("(ctm) ")
        user.type("info breakpoints\n")
        user.until("1  10 if")
        user.type("quit\n")
        assert user.ended() == 0


def test_a_goto_stops_at_a_fault_before_its_target(tmp_path: Path) -> None:
    found: list[str] = []
    with session_of(program(LOOP_BY_COLUMN, tmp_path), watchdog=20) as session:
        console = Console(session, found.append)
        console.onecmd("goto 0 6 0")
        assert console.error is not None and console.error.startswith("wavefront 3, in front of wavefront 6, fails: ")
        assert session.position[:2] == (0, 3) and session.wavefront.error is not None
        console.onecmd("continue 4")
        assert console.error == "continue takes nothing after it"

"""The command line: exit statuses, messages, JSON, and that nothing is a traceback."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctm import __version__
from ctm.examples.catalogue import FOLDER
from ctm.rtl.config import DEFAULT, with_settings
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.cli.invocation import ctm, report
from ctm.tb.jobs.folder import Folder, executable, scale
from ctm.tb.r5xx.machine import flow, move

SOURCE = "; stores (i, j, 0, 1)\nOUT o0 = MOV(r0)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def test_run_writes_the_outputs_and_says_where(folder: Folder) -> None:
    result = ctm("run", folder.job)
    assert result.exit_code == 0
    assert "y.npy" in result.stdout
    np.testing.assert_array_equal(np.load(folder.path / "y.npy"), folder.expected)


def test_run_reports_as_one_json_object(folder: Folder) -> None:
    found = report("run", folder.job, "-o", folder.path / "out", "--check")
    # 13 x 5 pixels are 7 x 3 quads, and the program has three instructions.
    assert found["engine"] == "golden"
    assert found["status"] == "ok"
    assert found["error"] is None
    assert found["cycles"] is None
    assert (found["instructions"], found["lane_instructions"]) == (63, 252)
    assert found["counters"] == {"groups": 21, "issued_alu": 42, "issued_fc": 0, "issued_tex": 21}
    assert found["outputs"] == {"0": str(folder.path / "out" / "y.npy")}
    assert found["wall_s"] > 0


def test_json_says_what_a_result_came_from(folder: Folder) -> None:
    found = report("run", folder.job, "--set", "array.lanes=16", "--set", "memory.data_bits=128")
    assert found["version"] == __version__
    settings = {name: value for name, value in found["configuration"].items() if not isinstance(value, bool)}
    assert with_settings(DEFAULT, settings) == with_settings(DEFAULT, {"array.lanes": 16, "memory.data_bits": 128})
    (sha256,) = found["programs"].values()
    again = report("run", folder.job)["programs"]
    assert len(sha256) == 64 and list(again.values()) == [sha256]


def test_settings_change_the_wavefront_size(folder: Folder) -> None:
    # With 16 lanes a row of seven quads is two wavefronts.
    assert report("run", folder.job, "--set", "array.lanes=16")["instructions"] == 2 * 3 * 3
    assert report("run", folder.job, "--preset", "wide")["instructions"] == 2 * 3 * 3


def test_a_machine_error_exits_1_writes_nothing_and_says_where(folder: Folder) -> None:
    (folder.path / "scale.elf").write_bytes(executable([move(0, 0), flow(inst={"a_op": 3}), move(0, 0, output=0)]))
    result = ctm("run", folder.job)
    assert result.exit_code == 1
    assert "ILLEGAL_INSTRUCTION: A_OP is 3; at pc 1, wavefront of (i, j) = (0, 0)" in result.stderr
    assert not (folder.path / "y.npy").exists()
    found = report("run", folder.job)
    assert found["status"] == "illegal_instruction"
    assert (found["error"]["pc"], found["error"]["i"], found["error"]["j"]) == (1, 0, 0)
    assert found["instructions"] == 42


def test_an_endless_program_is_stopped_at_once(folder: Folder) -> None:
    endless = [flow(inst={"jump_func": 0xFF}), move(0, 0, output=0)]
    (folder.path / "scale.elf").write_bytes(executable(endless))
    assert report("run", folder.job)["status"] == "watchdog"
    assert "executed 77 instructions" in ctm("run", folder.job, "--watchdog", 77).stderr


def test_hazards_are_reported_on_request(folder: Folder) -> None:
    program = scale()
    program[1] = (program[1][0] & ~4, *program[1][1:])
    (folder.path / "scale.elf").write_bytes(executable(program))
    assert ctm("run", folder.job).exit_code == 0
    result = ctm("run", folder.job, "--hazards")
    assert result.exit_code == 1
    assert "pc 1: reads r1.r, which a fetch has not delivered" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "{job}", "--engine", "vax"], "there is no engine 'vax'; there is: auto, golden"),
        (["run", "{job}", "--engine", "cxxrtl"], "--engine: cxxrtl was removed: 'rtl' runs the same hardware"),
        (["run", "{job}", "--preset", "huge"], "there is no preset 'huge'"),
        (["run", "{job}", "--set", "array.lanes=5"], "array.lanes must be a power of two, not 5"),
        (["run", "{job}", "--set", "array.lines=4"], "array.lines: no such setting; there are array.instruction_set"),
        (["run", "{job}", "--set", "lanes=4"], "lanes: no such section; the sections are array"),
        (["run", "{job}", "--set", "array.lanes"], "has no value; write it as a.b=V"),
        (["run", "{job}", "--set", "array.lanes=four"], "'four' is no number"),
        (["run", "{folder}/none.toml"], "none.toml: cannot read the job"),
        (["run", "{folder}"], "cannot read the job: Is a directory"),
        (["run", "{folder}/scale.elf"], "scale.elf: it is no job, which is a TOML file; a job names this program"),
        (["debug", str(FOLDER / "saxpy/saxpy.s")], '[program] file = "saxpy.s"'),
        (["sweep", str(FOLDER / "saxpy/saxpy.s")], "saxpy.s: it is no sweep, which is a TOML file"),
        (["run", "{job}", "-o", "{job}"], "job.toml"),
        (["exec", "--submit", "0x1001,4"], "a command buffer's address must be a multiple of 4"),
        (["exec", "--submit", "0x1000"], "write it as ADDRESS,DWORDS"),
        (["exec", "--submit", "zero,4"], "'zero' is no decimal or 0x number"),
        (["exec", "--submit", "0x100000000,4"], "is not 0..0xffffffff"),
        (["exec", "--submit", "0,0", "--load", "0=none.bin"], "none.bin: No such file"),
        (["exec", "--submit", "0,0", "--load", "0xffffffff={job}"], "leave the 4 GiB address space"),
        (["exec", "--submit", "0,0", "--dump", "0:4"], "write it as ADDRESS:BYTES=FILE"),
        (["exec", "--submit", "0,0", "--dump", "0xffffffff:2=x"], "the range leaves the 4 GiB address space"),
        (["exec", "--submit", "0,0", "--dump", "0:4={folder}"], "Is a directory"),
        (["asm", "{folder}/none.s", "-o", "x.elf"], "none.s: No such file"),
        (["asm", "{folder}/x.npy", "-o", "x.elf"], "x.npy: it is not UTF-8 text"),
        (["disasm", "{job}"], "job.toml: "),
        (["info", "{job}"], "job.toml: "),
    ],
)
def test_bad_arguments_exit_2_with_a_message(folder: Folder, arguments: Sequence[str], message: str) -> None:
    filled = [text.format(job=folder.job, folder=folder.path) for text in arguments]
    before = sorted(folder.path.iterdir())
    result = ctm(*filled)
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", "")
    assert sorted(folder.path.iterdir()) == before


@pytest.mark.parametrize("arguments", [[], ["run"], ["nonsense"], ["run", "a.toml", "--no-such-option"], ["exec"]])
def test_wrong_usage_exits_2(arguments: Sequence[str]) -> None:
    assert ctm(*arguments).exit_code == 2


@pytest.mark.parametrize("command", [["run", "a.toml"], ["exec", "--submit", "0,0"], ["debug", "a.toml"]])
def test_a_watchdog_is_a_word_of_the_machine(command: Sequence[str]) -> None:
    result = ctm(*command, "--watchdog", 1 << 32)
    assert (result.exit_code, "--watchdog" in result.stderr, "4294967295" in result.stderr) == (2, True, True)


@pytest.mark.parametrize("command", ["run", "exec", "asm", "disasm", "info", "bench", "doctor"])
def test_every_command_explains_itself(command: str) -> None:
    result = ctm(command, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout


@pytest.mark.parametrize("command", [["synth", "--unit", "multiply_add"], ["bitstream", "--board", "ulx3s"]])
@pytest.mark.parametrize("frequency", ["nan", "inf"])
def test_a_frequency_is_a_number(command: Sequence[str], frequency: str) -> None:
    result = ctm(*command, "--frequency", frequency)
    assert (result.exit_code, "--frequency" in result.stderr) == (2, True)


@pytest.mark.parametrize("command", ["run", "verilog", "synth", "bench"])
def test_the_help_names_the_default_presets(command: str) -> None:
    words = " ".join(ctm(command, "--help").stdout.replace("\u2502", " ").split())
    assert "default for R5xx cores, r700 for R700 cores" in words


def bare_machine(folder: Path) -> list[object]:
    """Options of an exec that stores r0 of a 2 x 2 domain at 0x40000."""
    layout = Layout(width=4, height=2, format=DataFormat.FLOAT32_4)
    commands = CommandBuffer().set_inst_fmt(0x10000).set_out_fmt(0, 0x40000, layout.format_word, 2)
    commands.set_domain(0, 0, 1, 1).start_program().flush_out_cache()
    (folder / "program.elf").write_bytes(executable([move(0, 0, output=0)]))
    (folder / "buffer.bin").write_bytes(bytes(commands))
    return ["--load", f"0x10000={folder}/program.elf", "--load", f"4096={folder}/buffer.bin",
            "--submit", f"0x1000,{len(commands.words)}"]  # fmt: skip


def test_exec_runs_the_bare_machine(tmp_path: Path) -> None:
    target = tmp_path / "out.bin"
    found = report("exec", *bare_machine(tmp_path), "--dump", f"0x40000:128={target}")
    assert (found["status"], found["instructions"], found["lane_instructions"]) == ("ok", 1, 4)
    assert found["outputs"] == {"0x00040000": str(target)}
    elements = np.frombuffer(target.read_bytes(), "<f4").reshape(2, 4, 4)
    np.testing.assert_array_equal(elements[1, 1], [1, 1, 0, 1])
    assert not elements[:, 2:].any()


def test_exec_dumps_after_a_machine_error_and_runs_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "bad.bin").write_bytes(bytes(8))
    target = tmp_path / "out.bin"
    options = bare_machine(tmp_path)
    result = ctm("exec", "--load", f"0x2000={tmp_path}/bad.bin", "--submit", "0x2000,2", *options,
                 "--dump", f"0x2000:8={target}", "--dump", f"0x40000:16={target}.2")  # fmt: skip
    assert result.exit_code == 1
    assert "BAD_COMMAND" in result.stderr
    assert target.read_bytes() == bytes(8)
    assert (tmp_path / "out.bin.2").read_bytes() == bytes(16)


def test_memory_reads_zero_where_nothing_was_loaded(tmp_path: Path) -> None:
    target = tmp_path / "zero.bin"
    assert ctm("exec", "--submit", "0,0", "--dump", f"0xfffffff0:16={target}").exit_code == 0
    assert target.read_bytes() == bytes(16)


def test_assemble_disassemble_assemble_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(SOURCE)
    assert ctm("asm", tmp_path / "a.s", "-o", tmp_path / "a.elf").exit_code == 0
    listing = ctm("disasm", tmp_path / "a.elf")
    assert listing.exit_code == 0
    (tmp_path / "b.s").write_text(listing.stdout)
    assert ctm("asm", tmp_path / "b.s", "-o", tmp_path / "b.elf").exit_code == 0
    assert (tmp_path / "a.elf").read_bytes() == (tmp_path / "b.elf").read_bytes()


def test_an_error_of_a_source_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text("; a comment\nOUT o0 = MIX(r0, r0)\n")
    result = ctm("asm", tmp_path / "a.s", "-o", tmp_path / "a.elf")
    assert result.exit_code == 2
    assert f"{tmp_path}/a.s:2:" in result.stderr
    assert "OUT o0 = MIX(r0, r0)" in result.stderr
    assert not (tmp_path / "a.elf").exists()


def test_info_describes_an_executable(folder: Folder) -> None:
    assert "scale.elf" not in ctm("info", folder.path / "scale.elf").stderr
    found = report("info", folder.path / "scale.elf")
    assert found["status"] == "ok"


def test_doctor_finds_this_machine_right() -> None:
    result = ctm("doctor")
    assert result.exit_code == 0
    assert "4 GiB of address space" in result.stdout


def test_ctm_is_installed_as_a_program() -> None:
    program = Path(__file__).parents[2] / ".venv" / "bin" / "ctm"
    result = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "exec" in result.stdout


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    words=st.lists(
        st.one_of(
            st.integers(0, 0xFFFF_FFFF),
            st.integers(0, 0x1F).map(lambda code: 0xC0000000 | code << 8),
            st.sampled_from([0xC0030700, 0xC0030B00, 0xC0030C00, 0xC0010A00, 0xC0000800, 0x10000, 0]),
        ),
        max_size=24,
    )
)
def test_any_command_buffer_ends_well(tmp_path_factory: pytest.TempPathFactory, words: list[int]) -> None:
    folder = tmp_path_factory.mktemp("exec")
    (folder / "buffer.bin").write_bytes(np.array(words, "<u4").tobytes())
    result = ctm(
        "exec", "--load", f"0={folder}/buffer.bin", "--submit", f"0,{len(words)}", "--watchdog", "1000", "--json"
    )
    assert result.exit_code in (0, 1)
    assert json.loads(result.stdout)["status"] != "bad_input"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    words=st.lists(st.tuples(*[st.integers(0, 0xFFFF_FFFF)] * 6), min_size=1, max_size=12),
    umrt=st.booleans(),
)
def test_any_program_ends_well_and_writes_only_its_outputs(
    tmp_path_factory: pytest.TempPathFactory, words: list[tuple[int, ...]], umrt: bool
) -> None:
    folder = tmp_path_factory.mktemp("exec")
    options = bare_machine(folder)
    program = executable(words, uncached_writes=umrt, us_fc_ctrl=0x80000000)
    (folder / "program.elf").write_bytes(program)
    target = folder / "memory.bin"
    result = ctm("exec", *options, "--watchdog", "300", "--dump", f"0:{1 << 20}={target}", "--json")
    assert result.exit_code in (0, 1)
    memory = bytearray(target.read_bytes())
    for address, file in ((0x10000, "program.elf"), (0x1000, "buffer.bin"), (0x40000, None)):
        size = (folder / file).stat().st_size if file else 128
        memory[address : address + size] = bytes(size)
    assert not any(memory)

"""R700 programs from the command line: imported, described, run."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from ctm.tb.cli.invocation import ctm, report
from ctm.tb.lib.machines import options

DATA = Path(__file__).parents[1] / "data" / "r700"
OBJECT = DATA / "llvm" / "o" / "insertion_sort_llvm.o"
COMPILED = DATA / "shaders" / "saxpy_sb.json"


def job(program: str, inputs: dict[int, str], outputs: int, shape: tuple[int, int]) -> str:
    """The text of a job whose files are all FLOAT32_4."""
    height, width = shape
    lines = ["[program]", f'file = "{program}"', "[domain]", f"i = [0, {width - 1}]", f"j = [0, {height - 1}]"]
    for index, file in inputs.items():
        lines += ["[[inputs]]", f"index = {index}", f'file = "{file}"', 'format = "FLOAT32_4"']
    for index in range(outputs):
        lines += ["[[outputs]]", f"index = {index}", f'file = "y{index}.npy"', f"shape = [{height}, {width}]"]
        lines += ['format = "FLOAT32_4"', "fill = -777.0"]
    return "\n".join(lines) + "\n"


@pytest.fixture
def sort(tmp_path: Path) -> Path:
    """A job that runs the program of an object of LLVM, and what comes out."""
    result = ctm("import", OBJECT, "-o", tmp_path / "sort.elf")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "repaired: 4 MOVA_INT with Evergreen's number, 0xcc instead of 0x18",
        f"{tmp_path / 'sort.elf'}: a program for r700",
    ]
    with np.load(DATA / "llvm" / "insertion_sort_llvm.npz") as arrays:
        np.save(tmp_path / "x.npy", arrays["texture0"])
        np.save(tmp_path / "expected.npy", arrays["expected"])
    (tmp_path / "job.toml").write_text(job("sort.elf", {0: "x.npy"}, 2, (16, 16)))
    return tmp_path


@pytest.mark.slow
def test_an_imported_object_runs_on_the_machine_of_its_kind(sort: Path) -> None:
    for arguments in ([], ["--check"], ["--hazards"], ["--set", "array.wavefront=64"]):
        found = report("run", sort / "job.toml", *arguments)
        assert found["status"] == "ok", found
        assert found["counters"]["groups"] == (8 if arguments[:1] == ["--set"] else 16)
        expected = np.load(sort / "expected.npy")
        for index in range(2):
            assert np.array_equal(np.load(sort / f"y{index}.npy"), expected[index])


def test_its_hardware_leaves_the_same(sort: Path) -> None:
    found = report("run", sort / "job.toml", "--engine", "rtl", *options("r700"), "--check")
    assert found["status"] == "ok", found
    assert found["cycles"] > found["counters"]["issued_alu"] > 0
    assert np.array_equal(np.load(sort / "y0.npy"), np.load(sort / "expected.npy")[0])


def test_a_compiled_program_is_a_jobs_program_as_it_is(tmp_path: Path) -> None:
    with np.load(COMPILED.with_suffix(".npz")) as arrays:
        inputs = {name: arrays[name] for name in arrays if name.startswith(("gpr", "texture"))}
        expected = arrays["expected"][0]
    document = json.loads(COMPILED.read_text())
    bound = {}
    for position, register in enumerate(sorted(document["inputs"], reverse=True)):
        bound[15 - position] = f"gpr{register}.npy"
    for texture in document["textures"]:
        bound[texture["input"]] = f"texture{texture['input']}.npy"
    for name, array in inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
    width, height = document["grid"]
    (tmp_path / "program.json").write_text(COMPILED.read_text())
    (tmp_path / "job.toml").write_text(job("program.json", bound, 1, (height, width)))
    assert report("run", tmp_path / "job.toml")["status"] == "ok"
    tolerance = document["relative_tolerance"] * np.maximum(1, np.abs(expected))
    assert (np.abs(np.load(tmp_path / "y0.npy") - expected) <= tolerance).all()
    # An input that the prologue needs is named as any other.
    bound.pop(15)
    (tmp_path / "job.toml").write_text(job("program.json", bound, 1, (height, width)))
    result = ctm("run", tmp_path / "job.toml")
    assert result.exit_code == 2
    assert "program.json uses input 15, which is not bound" in result.stderr


def test_a_json_is_imported_with_its_prologue(tmp_path: Path) -> None:
    result = ctm("import", COMPILED, "-o", tmp_path / "saxpy.elf")
    assert result.exit_code == 0
    assert "R0 is loaded from input 15 (FLOAT32_4)" in result.stdout
    found = report("info", tmp_path / "saxpy.elf")
    assert found["instruction_set"] == "r700"
    assert 15 in found["inputs"]
    assert found["cf_words_by_operation"]["jump"] == 1


def test_what_cannot_be_imported_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    output = tmp_path / "out.elf"
    (tmp_path / "text.o").write_text("no program\n")
    (tmp_path / "short.o").write_bytes(OBJECT.read_bytes()[:100])
    for name, message in (
        ("text.o", "no ELF file, and no compiled program as JSON"),
        ("short.o", "the file is truncated: it takes 1,512 bytes, and has 100"),
        ("missing.o", "No such file"),
    ):
        result = ctm("import", tmp_path / name, "-o", output)
        assert result.exit_code == 2
        assert message in result.stderr
        assert name in result.stderr
    assert not output.exists()
    (tmp_path / "copy.o").write_bytes(OBJECT.read_bytes())
    result = ctm("import", tmp_path / "copy.o", "-o", tmp_path / "copy.o")
    assert result.exit_code == 2
    assert (tmp_path / "copy.o").read_bytes() == OBJECT.read_bytes()


def test_a_program_of_an_object_must_be_imported_first(sort: Path) -> None:
    (sort / "program.o").write_bytes(OBJECT.read_bytes())
    (sort / "job.toml").write_text(job("program.o", {0: "x.npy"}, 2, (16, 16)))
    result = ctm("run", sort / "job.toml")
    assert result.exit_code == 2
    assert "must end in .s, .c, .py, .elf or .json; ctm import makes an .elf of it" in result.stderr


def test_a_fault_names_the_word_and_the_address(sort: Path) -> None:
    executable = bytearray((sort / "sort.elf").read_bytes())
    # The offset of the first program header's segment.
    (code,) = struct.unpack_from("<I", executable, 52 + 4)
    assert code < executable.index(b"ATI DPP\x00")
    executable[code : code + 8] = (0).to_bytes(4, "little") + (0x1F << 23).to_bytes(4, "little")
    (sort / "sort.elf").write_bytes(executable)
    result = ctm("run", sort / "job.toml")
    assert result.exit_code == 1
    assert "ILLEGAL_INSTRUCTION" in result.stderr
    assert "at CF instruction 0, wavefront of (i, j) = (0, 0)" in result.stderr
    for bad in (3, 5):
        assert ctm("run", sort / "job.toml", "--set", f"array.wavefront={bad}").exit_code == 2
    assert ctm("run", sort / "job.toml", "--set", "array.instruction_set=r5xx").exit_code == 1


@pytest.mark.parametrize(
    "command", [("run", "--engine", "rtl"), ("run", "--engine", "amaranth"), ("verilog",), ("synth",)]
)
def test_hardware_that_there_is_none_of_is_an_error_in_one_line(sort: Path, command: tuple[str, ...]) -> None:
    what, *others = command
    arguments = [sort / "job.toml"] if what == "run" else ["--preset", "r700"]
    result = ctm(what, *arguments, *others, "--set", "array.wavefront=64")
    assert result.exit_code == 2
    assert result.stderr == "error: array.threads must be 8 at most for a wavefront of 64 on 4 lanes, not 16\n"

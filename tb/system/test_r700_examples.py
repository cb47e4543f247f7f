"""Examples for R700 cores: right results, whatever the size of a wavefront, and no hazards."""

import hashlib

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER, R700_REFERENCES, job
from ctm.examples.r700.bitonic.reference import passes
from ctm.examples.r700.sha256.reference import ROUND_CONSTANTS, block
from ctm.sim.elf import describe, read, write
from ctm.sim.elf.r700.llvm.objects import read_object
from ctm.sim.jobs.loading import load_job
from ctm.tb.system.example_runs import assert_holds, outputs, run

COMPILERS = FOLDER / "r700" / "compilers"
SEES_THE_SIZE = "r700/reduction"


def test_every_folder_has_a_job_a_source_an_explanation_and_a_reference() -> None:
    folders = {
        f"r700/{path.name}" for path in (FOLDER / "r700").iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == {*R700_REFERENCES, "r700/compilers", "r700/torus"}
    for name in R700_REFERENCES:
        assert job(name).exists()
        for source in (FOLDER / name).glob("*.s"):
            assert source.read_text().startswith(".isa r700\n")
        assert (FOLDER / name / "README.md").read_text().startswith(f"# {name.partition('/')[2]}\n")


@pytest.mark.parametrize("name", R700_REFERENCES)
def test_inputs_are_those_that_the_reference_makes(name: str) -> None:
    for file, array in R700_REFERENCES[name].inputs().items():
        kept = np.load(FOLDER / name / file)
        assert (kept.dtype, kept.shape, kept.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.parametrize("name", R700_REFERENCES)
def test_result_is_that_of_numpy_for_every_wavefront_and_without_hazards(name: str) -> None:
    loaded = load_job(job(name))
    found = outputs(loaded, run(loaded))
    assert_holds(found, R700_REFERENCES[name].expected(R700_REFERENCES[name].inputs()))
    assert loaded.launches[0].program.executable.sees_wavefront_size == (name == SEES_THE_SIZE)
    for size in (4, 64):
        others = outputs(loaded, run(loaded, group=size))
        same = all(others[file].tobytes() == array.tobytes() for file, array in found.items())
        assert same == (name != SEES_THE_SIZE), f"wavefronts of {size}"


def test_slots_of_the_matmul_loop_are_full() -> None:
    text = (FOLDER / "r700" / "matmul" / "matmul.s").read_text()
    loop = text[text.index("REP i0") : text.index("ENDLOOP")]
    slots = [line for line in loop.splitlines() if line.strip()[:1] in "0123456789xyzwt" and ": " in line]
    groups = sum(line.strip()[0].isdigit() for line in slots)
    assert (groups, len(slots), sum("MULADD" in line for line in slots)) == (26, 130, 128)


def test_sha256_is_that_of_a_message_worked_out_elsewhere() -> None:
    # FIPS 180-4, appendix: the message "abc".
    assert block(b"abc").hex() == "61626380" + "00" * 52 + "0000000000000018"
    assert hashlib.sha256(b"abc").hexdigest().startswith("ba7816bf8f01cfea")
    assert [ROUND_CONSTANTS[0], ROUND_CONSTANTS[-1], len(ROUND_CONSTANTS)] == [0x428A2F98, 0xC67178F2, 64]
    floats = load_job(job("r700/sha256")).launches[0].constants.floats
    assert [word for row in range(16) for word in floats[row]] == ROUND_CONSTANTS


def test_passes_of_the_bitonic_job_follow_the_rule() -> None:
    launches = load_job(job("r700/bitonic")).launches
    assert [launch.constants.floats[0][:2] for launch in launches] == list(passes())


def test_both_compilers_count_the_same() -> None:
    counts, executed = [], []
    for name in ("mesa", "llvm"):
        loaded = load_job(COMPILERS / f"{name}.toml")
        result = run(loaded)
        counts.append(outputs(loaded, result)[f"{name}.npy"][:, :, 0])
        executed.append(f"{result.report.instructions:,}")
    assert np.array_equal(counts[0], counts[1])
    assert len(np.unique(counts[0])) > 20
    text = (COMPILERS / "README.md").read_text()
    assert all(f"| {number} |" in text for number in executed)


def test_the_imported_object_is_the_object_imported() -> None:
    executable, said = read_object((COMPILERS / "mandelbrot.o").read_bytes())
    assert said == []
    assert write(executable) == (COMPILERS / "mandelbrot.elf").read_bytes()
    described = describe(read((COMPILERS / "mandelbrot.elf").read_bytes()))
    figures = f"| {described['cf_words']} | {described['groups']} | {described['slots_per_group']} |"
    assert figures in (COMPILERS / "README.md").read_text()

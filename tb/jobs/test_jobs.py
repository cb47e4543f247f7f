"""Jobs that run, and jobs that say what is wrong with them."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctm.rtl.config import DEFAULT
from ctm.sim.jobs.destinations import CONDITIONAL
from ctm.sim.jobs.error import JobError
from ctm.sim.jobs.execution import Execution, Run, pixels
from ctm.sim.jobs.loading import load_job
from ctm.sim.jobs.saving import save
from ctm.tb.jobs.folder import JOB, Folder, executable, scale
from ctm.tb.r5xx.machine import move


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def run(folder: Folder) -> Run:
    return Execution(load_job(folder.job), engine="golden", config=DEFAULT, watchdog=1000).run()


def complaint(folder: Folder) -> str:
    """What is said of the job, without the folder."""
    with pytest.raises(JobError) as caught:
        load_job(folder.job)
    return str(caught.value).replace(f"{folder.path}/", "")


@pytest.mark.parametrize("tiling", ["LINEAR", "TILED"])
@pytest.mark.parametrize("memory", ["local", "system"])
def test_a_job_runs_in_every_tiling_and_memory(folder: Folder, tiling: str, memory: str) -> None:
    folder.change('file = "x.npy"', f'file = "x.npy"\ntiling = "{tiling}"\nmemory = "{memory}"')
    folder.change('file = "y.npy"', f'file = "y.npy"\ntiling = "{tiling}"\nmemory = "{memory}"')
    np.testing.assert_array_equal(run(folder).outputs[0], folder.expected)


def test_what_the_domain_does_not_cover_keeps_its_fill_or_initial_contents(folder: Folder) -> None:
    folder.change("i = [0, 12]", "i = [3, 12]")
    assert (run(folder).outputs[0][:, :3] == 7).all()
    before = np.random.default_rng(1).random((5, 13, 4), np.float32)
    np.save(folder.path / "before.npy", before)
    folder.change("fill = 7.0", 'initial = "before.npy"')
    np.testing.assert_array_equal(run(folder).outputs[0][:, :3], before[:, :3])


def test_constants_may_be_files_and_exact_bits(folder: Folder) -> None:
    constants = np.zeros((4, 4), np.float32)
    constants[3] = 2
    np.save(folder.path / "constants.npy", constants)
    folder.change("float = {3 = [2.0, 2.0, 2.0, 0.5]}", 'float = "constants.npy"')
    np.testing.assert_array_equal(run(folder).outputs[0], folder.expected)
    folder.change('float = "constants.npy"', 'float = {3 = ["0x40000000", 2, 2.0, "0xffffffff"]}')
    np.testing.assert_array_equal(run(folder).outputs[0], folder.expected)


def test_passes_repeat_and_swap_and_the_output_is_what_the_last_one_wrote(folder: Folder) -> None:
    # Each launch doubles R, G and B: 1 + 3 launches, then one with c3 = 1 / 16.
    folder.change(
        "[domain]\ni = [0, 12]\nj = [0, 4]\n",
        "[[passes]]\ndomain_i = [0, 12]\ndomain_j = [0, 4]\nswap = [[0, 0]]\n"
        "[[passes]]\ndomain_i = [0, 12]\ndomain_j = [0, 4]\nrepeat = 3\nswap = [[0, 0]]\n"
        "[[passes]]\ndomain_i = [0, 12]\ndomain_j = [0, 4]\n"
        "constants = {float = {3 = [0.0625, 0.0625, 0.0625, 0.0625]}}\n",
    )
    job = load_job(folder.job)
    assert pixels(job) == 5 * 13 * 5
    np.testing.assert_array_equal(run(folder).outputs[0], folder.x)


def test_a_conditional_buffer_is_read_written_and_returned(folder: Folder) -> None:
    depth = np.tile(np.arange(13, dtype=np.float32), (5, 1))
    np.save(folder.path / "depth.npy", depth)
    section = (
        '[conditional]\nlocation = "PE"\ntest = "LESS"\nvalue = 4.5\nfile = "depth.npy"\nshape = [5, 13]\n'
        'format = "FLOAT32_1"\nwrite = true\n'
    )
    folder.change("[constants]", section + "[constants]")
    outputs = run(folder).outputs
    passed = depth > 4.5
    np.testing.assert_array_equal(outputs[0], np.where(passed[..., None], folder.expected, 7))
    np.testing.assert_array_equal(outputs[CONDITIONAL][..., 0], np.where(passed, 4.5, depth))
    # The file keeps its shape: [height, width] here, [height, width, 1] where there was none.
    for shape in ((5, 13), (5, 13, 1)):
        job = load_job(folder.job)
        save(job, run(folder))
        assert np.load(folder.path / "depth.npy").shape == shape
        (folder.path / "depth.npy").unlink()


def test_output_masks_and_uint_formats(folder: Folder) -> None:
    folder.change('format = "FLOAT32_4"\nfill = 7.0', 'format = "UINT8_4"\nfill = 9')
    folder.change("[constants]", "[masks]\noutput = [true, false, false, true]\n[constants]")
    found = run(folder).outputs[0]
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found[..., 0], np.rint(np.clip(folder.expected[..., 0].astype(float), 0, 1) * 255))
    assert (found[..., 1:3] == 9).all()


def test_a_program_of_words_brings_its_constants(folder: Folder) -> None:
    document = {
        "instructions": [[f"0x{word:08x}" for word in words] for words in scale()], "start": 0, "end": 2,
        "highest_temporary": 1, "US_CONFIG": "0x2", "US_FC_CTRL": 0, "US_W_FMT": 0, "FG_DEPTH_SRC": 0,
        "float_constants": {"3": ["0x40000000"] * 4},
    }  # fmt: skip
    (folder.path / "scale.json").write_text(json.dumps(document))
    folder.change("scale.elf", "scale.json")
    folder.change("[constants]\nfloat = {3 = [2.0, 2.0, 2.0, 0.5]}\n", "")
    np.testing.assert_array_equal(run(folder).outputs[0], folder.expected)


def test_outputs_go_beside_the_job_or_into_a_folder_and_nothing_else_is_left(folder: Folder) -> None:
    job = load_job(folder.job)
    assert job.files == {0: folder.path / "y.npy"}
    target = folder.path / "new" / "folder"
    before = set(folder.path.iterdir())
    save(load_job(folder.job, target), run(folder))
    assert set(folder.path.iterdir()) - before == {folder.path / "new"}
    assert [path.name for path in target.iterdir()] == ["y.npy"]
    np.testing.assert_array_equal(np.load(target / "y.npy"), folder.expected)


WRONG = [
    (
        'format = "FLOAT32_4"\nfill',
        'formt = "FLOAT32_4"\nfill',
        "job.toml:17: outputs[0].formt: unknown key; did you mean 'format'?",
    ),
    ("[domain]", "[domains]", "job.toml:4: domains: unknown key; did you mean 'domain'?"),
    (
        'file = "x.npy"\nformat = "FLOAT32_4"',
        'file = "x.npy"\nformat = "FLOAT32"',
        "job.toml:11: inputs[0].format: must be one of UINT16_1",
    ),
    ("i = [0, 12]", "i = [0, 4096]", "job.toml:5: domain.i[1]: must be less than 4096"),
    ("i = [0, 12]", "", "job.toml:4: domain.i: is missing"),
    ('index = 0\nfile = "x.npy"', 'index = 16\nfile = "x.npy"', "job.toml:9: inputs[0].index: must be less than 16"),
    ("shape = [5, 13]", "shape = [5, 0]", "job.toml:16: outputs[0].shape[1]: must be greater than or equal to 1"),
    ("[domain]\ni = [0, 12]\nj = [0, 4]\n", "", "job.toml:1: needs either [domain] or [[passes]]"),
    ("[constants]", "[constants", "job.toml:20: "),
    ("float = {3 =", "float = {256 =", "job.toml:21: constants.float.256: must be a number 0..255"),
    (
        "float = {3 =",
        "int = {0 = [1, 2, 300]}\nfloat = {3 =",
        "job.toml:21: constants.int.0[2]: must be less than or equal to 127",
    ),
    ("0.5]}", "true]}", "job.toml:21: constants.float.3[3]: must be a number or a hex string"),
    ("0.5]}", '"1.5"]}', "constants.float.3[3]: '1.5' is no hex word"),
    ("scale.elf", "scale.exe", "job.toml:2: program.file: 'scale.exe' must end in .s, .c, .py, .elf or .json"),
    ("scale.elf", "other.elf", "job.toml:2: program.file: there is no file 'other.elf'"),
    ("x.npy", "z.npy", "job.toml:10: inputs[0].file: there is no file 'z.npy'"),
    ("x.npy", "job.toml", "job.toml:10: inputs[0].file: 'job.toml' must end in .npy or .png"),
    (
        'file = "x.npy"\nformat = "FLOAT32_4"',
        'file = "x.npy"\nformat = "FLOAT32_2"',
        "job.toml:10: inputs[0].file: 'x.npy' has shape [5, 13, 4]; FLOAT32_2 takes [height, width, 2]",
    ),
    (
        'file = "x.npy"\nformat = "FLOAT32_4"',
        'file = "x.npy"\nformat = "UINT16_1"',
        "'x.npy' holds float32; UINT16_1 takes uint16",
    ),
    ("fill = 7.0", 'initial = "x.npy"\nfill = 7.0', "job.toml:13: outputs[0]: fill and initial exclude each other"),
    ("shape = [5, 13]", 'shape = [5, 12]\ninitial = "x.npy"', "outputs[0]"),
    (
        'index = 0\nfile = "x.npy"',
        'index = 1\nfile = "x.npy"',
        "job.toml:8: inputs: scale.elf uses input 0, which is not bound",
    ),
    (
        'index = 0\nfile = "y.npy"',
        'index = 1\nfile = "y.npy"',
        "job.toml:13: outputs: scale.elf uses output 0, which is not bound",
    ),
    ("float = {3 =", "float = {2 =", "job.toml:20: constants: scale.elf uses float constant 3, which is not bound"),
    (
        'format = "FLOAT32_4"\nfill',
        'format = "FLOAT32_4"\ntiling = "TILED_INP_2X2"\nfill',
        "outputs[0].tiling: tiling TILED_INP_2X2 needs a format of one channel",
    ),
    (
        "fill = 7.0",
        'fill = 7.0\n[[outputs]]\nindex = 0\nfile = "z.npy"\nshape = [5, 13]\nformat = "FLOAT32_4"',
        "two outputs have the same index",
    ),
    (
        "fill = 7.0",
        'fill = 7.0\n[[outputs]]\nindex = 1\nfile = "y.npy"\nshape = [5, 13]\nformat = "FLOAT32_4"',
        "two outputs go to the same file",
    ),
]
"""A substring of the job, its replacement, and the message."""


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_a_wrong_job_names_the_key_and_its_line(folder: Folder, old: str, new: str, message: str) -> None:
    folder.change(old, new)
    assert message in complaint(folder)


def test_a_fill_must_fit_the_format(folder: Folder) -> None:
    folder.change('format = "FLOAT32_4"\nfill = 7.0', 'format = "UINT8_4"\nfill = 0.5')
    assert "job.toml:18: outputs[0].fill: UINT8_4 holds whole numbers 0..255, not 0.5" in complaint(folder)


def test_scaled_fetches_need_a_width_that_is_a_legal_pitch(folder: Folder) -> None:
    (folder.path / "scale.elf").write_bytes(executable(scale(unscaled=0)))
    assert "job.toml:10: inputs[0].file: scale.elf looks input 0 up with scaled coordinates" in complaint(folder)
    assert "13 is not, the next one is 16" in complaint(folder)
    np.save(folder.path / "x.npy", np.zeros((5, 16, 4), np.float32))
    load_job(folder.job)


def test_swapped_buffers_must_be_alike(folder: Folder) -> None:
    folder.change(
        "[domain]\ni = [0, 12]\nj = [0, 4]\n",
        "[[passes]]\ndomain_i = [0, 12]\ndomain_j = [0, 4]\nrepeat = 2\nswap = [[0, 0]]\n",
    )
    folder.change("shape = [5, 13]", "shape = [6, 13]")
    assert "job.toml:8: passes[0].swap: output 0 and input 0 differ in size, format or tiling" in complaint(folder)
    folder.change("swap = [[0, 0]]", "swap = [[1, 0]]")
    assert "passes[0].swap: output 1 and input 0 must both be in the job" in complaint(folder)


def test_a_test_that_needs_a_buffer_must_have_one(folder: Folder) -> None:
    folder.change("[constants]", '[conditional]\nlocation = "PE"\ntest = "LESS"\n[constants]')
    assert "conditional: test LESS needs file and shape" in complaint(folder)


def test_a_job_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"none\.toml: cannot read the job: No such file"):
        load_job(tmp_path / "none.toml")


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder.make(tmp_path_factory.mktemp("job"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(JOB)),
            st.integers(0, 12),
            st.one_of(
                st.text(alphabet='[]{}="#,.\n 0123456789abxyzELFNT_-', max_size=8),
                st.sampled_from(
                    ["[[passes]]\n", "true", '"x.npy"', "-1", "1e999", "nan", "[]", "{}", "9" * 30, "\x00"]
                ),
            ),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_text_is_a_job_or_an_error(shared_folder: Folder, edits: list[tuple[int, int, str]]) -> None:
    text = JOB
    for start, length, new in edits:
        text = text[:start] + new + text[start + length :]
    shared_folder.job.write_text(text)
    before = sorted(shared_folder.path.iterdir())
    try:
        load_job(shared_folder.job)
    except JobError as error:
        assert str(error).startswith(str(shared_folder.job))
    assert sorted(shared_folder.path.iterdir()) == before


def test_a_program_that_looks_nothing_up_needs_no_input(folder: Folder) -> None:
    (folder.path / "scale.elf").write_bytes(executable([move(0, 0, output=0)]))
    text = folder.job.read_text()
    start, end = text.index("[[inputs]]"), text.index("[[outputs]]")
    folder.job.write_text(text[:start] + text[end:])
    assert run(folder).outputs[0][4, 12].tolist() == [12, 4, 0, 1]

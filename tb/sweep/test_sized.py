"""A job over another domain is the job whose file says so."""

from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER, job
from ctm.rtl.config import TINY
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.sweep.content import Parcel, digest_of_job, packed, unpacked
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.sized import size_of, sized


def run(loaded: LoadedJob) -> Run:
    return Execution(loaded, engine="golden", config=TINY, watchdog=0).run()


def written(folder: Path, size: tuple[int, int]) -> LoadedJob:
    """The example over a domain of a size, with inputs that are repeated by numpy, as a file of its own."""
    source = job("saxpy")
    (folder / "saxpy.s").write_text(source.with_name("saxpy.s").read_text())
    height, width = size
    for name in ("x.npy", "y.npy"):
        array = np.load(source.with_name(name))
        repeats = (-(-height // array.shape[0]), -(-width // array.shape[1]), 1)
        np.save(folder / name, np.tile(array, repeats)[:height, :width])
    text = source.read_text().replace("i = [0, 63]", f"i = [0, {width - 1}]")
    text = text.replace("j = [0, 31]", f"j = [0, {height - 1}]").replace("[32, 64]", f"[{height}, {width}]")
    (folder / "saxpy.toml").write_text(text)
    return load_job(folder / "saxpy.toml")


@pytest.mark.parametrize("size", [(5, 7), (32, 64), (33, 64), (80, 130)])
def test_a_sized_job_is_the_one_that_is_written_so(tmp_path: Path, size: tuple[int, int]) -> None:
    found, expected = sized(load_job(job("saxpy")), size), written(tmp_path, size)
    assert size_of(found) == size
    assert digest_of_job(found) == digest_of_job(expected)
    one, other = run(found), run(expected)
    assert np.array_equal(one.outputs[0].view(np.uint32), other.outputs[0].view(np.uint32))
    assert one.report == other.report and one.outputs[0].shape == (*size, 4)


def test_the_hash_of_a_job_sees_all_that_a_run_depends_on(tmp_path: Path) -> None:
    digests = {digest_of_job(written(tmp_path, (8, 8)))}
    path = tmp_path / "saxpy.toml"
    path.write_text(path.read_text().replace("2.5", "2.25"))
    digests.add(digest_of_job(load_job(path)))
    x = np.load(tmp_path / "x.npy")
    x[3, 4, 1] += 1
    np.save(tmp_path / "x.npy", x)
    digests.add(digest_of_job(load_job(path)))
    path.write_text(path.read_text().replace('file = "saxpy.s"', 'file = "other.s"'))
    (tmp_path / "other.s").write_text((tmp_path / "saxpy.s").read_text().replace("r1", "r3"))
    digests.add(digest_of_job(load_job(path)))
    assert len(digests) == 4


@pytest.mark.parametrize("name", ["saxpy", "bitonic", "early_out", "blur", "r700/reduction"])
def test_a_job_survives_its_transfer_and_damage_is_seen(name: str) -> None:
    loaded = load_job(min((FOLDER / name).glob("*.toml")))
    parcel = packed(loaded)
    assert digest_of_job(unpacked(parcel)) == digest_of_job(loaded)
    damaged = Parcel("0" * 64, parcel.data)
    with pytest.raises(SweepError, match="a job arrived damaged: its SHA-256 is"):
        unpacked(damaged)


def test_sizes_of_what_has_more_than_a_domain_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"bitonic.toml has \[\[passes\]\].*leave out sizes"):
        sized(load_job(job("bitonic")), (8, 8))

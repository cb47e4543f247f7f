"""Writing the outputs of a job."""

from pathlib import Path

from ctm.rtl.isa.formats import DataFormat
from ctm.sim.files import try_files, write_file
from ctm.sim.jobs.arrays import NPY, PNG, encoded, least_bytes
from ctm.sim.jobs.destinations import CONDITIONAL, stream_key
from ctm.sim.jobs.execution import Run
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.runtime.png import picture_of


def try_outputs(job: LoadedJob) -> None:
    """Find out before the run whether every output can be written; nothing is changed.

    Raises
    ------
    OSError
        One cannot be.
    """
    arrays = {section.index: array for section, _, array in job.outputs}
    sizes = {path: least_bytes(path, arrays[key]) for key, path in job.files.items() if isinstance(key, int)}
    if job.conditional is not None:
        sizes[job.files[CONDITIONAL]] = least_bytes(job.files[CONDITIONAL], job.conditional.array)
    for stream in job.job.draw.streams if job.job.draw is not None else ():
        sizes[job.files[stream_key(stream.index)]] = 4 * stream.words
    try_files(sizes, make_folders=True)


def picture_files(job: LoadedJob) -> dict[int, Path]:
    """The PNG beside each output that is an .npy and can be a picture: two channels cannot."""
    files = {each.index: job.files[each.index] for each, _, _ in job.outputs if each.format is not DataFormat.FLOAT32_2}
    return {index: path.with_suffix(PNG) for index, path in files.items() if path.suffix.lower() == NPY}


def save_pictures(job: LoadedJob, run: Run) -> list[tuple[Path, bool]]:
    """Write a PNG beside each output that is an .npy and can be a picture; which, and whether all values were clamped.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    written = []
    for key, picture in picture_files(job).items():
        found = picture_of(run.outputs[key])
        if found is not None:
            write_file(picture, encoded(picture, found[0]), make_folders=True)
            written.append((picture, found[1]))
    return written


def save(job: LoadedJob, run: Run) -> None:
    """Write every output, each completely or not at all; a conditional buffer keeps the shape of its file.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    for key, path in job.files.items():
        is_flat = key == CONDITIONAL and job.conditional is not None and job.conditional.is_flat
        array = run.outputs[key][..., 0] if is_flat else run.outputs[key]
        write_file(path, encoded(path, array), make_folders=True)

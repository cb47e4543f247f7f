"""Writing the outputs of a job."""

from pathlib import Path

import numpy as np

from ctm.sim.files import try_files, write_file
from ctm.sim.jobs.arrays import NPY, PNG, Array, encoded, least_bytes
from ctm.sim.jobs.destinations import CONDITIONAL, stream_key
from ctm.sim.jobs.execution import Run
from ctm.sim.jobs.loading import LoadedJob


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


def picture_of(array: Array) -> tuple[Array, bool] | None:
    """The elements of an output as a picture for a PNG, and whether every value had to be clamped.

    Floats from 0 to 1 are shades, four of them red, green, blue and alpha; what is beyond is clamped, NaN is 0. None:
    two channels are no picture.
    """
    if array.ndim == 3 and array.shape[2] == 2:
        return None
    if array.dtype != np.float32:
        return array, False
    values = np.nan_to_num(array, nan=0.0)
    clamped = np.clip(values, 0.0, 1.0)
    return np.rint(255 * clamped).astype(np.uint8), bool((clamped != array).all())


def save_pictures(job: LoadedJob, run: Run) -> list[tuple[Path, bool]]:
    """Write a PNG beside each output that is an .npy and can be a picture; which, and whether all values were clamped.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    written = []
    for key, path in job.files.items():
        found = picture_of(run.outputs[key]) if isinstance(key, int) and path.suffix == NPY else None
        if found is not None:
            picture = path.with_suffix(PNG)
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

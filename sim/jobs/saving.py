"""Writing the outputs of a job."""

from ctm.sim.files import try_files, write_file
from ctm.sim.jobs.arrays import encoded, least_bytes
from ctm.sim.jobs.destinations import CONDITIONAL
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
    try_files(sizes, make_folders=True)


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

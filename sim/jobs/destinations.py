"""Where the outputs of a job go, and what they must not replace."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from ctm.sim.compiler.source import kernel_in
from ctm.sim.files import is_same_file, is_stream
from ctm.sim.jobs.reading import JobText, Key, key_name
from ctm.sim.jobs.schema import Job

CONDITIONAL = "conditional"
"""Name of the conditional buffer among the outputs of a job; the others have their index."""

Destinations = Mapping[int | str, Path]


def stream_key(index: int) -> str:
    """The name of a stream among the outputs of a job."""
    return f"stream {index}"


def destinations(job: Job, home: Path, folder: Path | None = None) -> Destinations:
    """The file of each output: beside the job in `home`, or under its own name in `folder`; devices stay."""
    names: dict[int | str, str] = {section.index: section.file for section in job.outputs}
    if job.conditional is not None and job.conditional.file is not None:
        names[CONDITIONAL] = job.conditional.file
    for stream in job.draw.streams if job.draw is not None else ():
        names[stream_key(stream.index)] = stream.file
    beside = {key: home / name for key, name in names.items()}
    if folder is None:
        return beside
    return {key: file if is_stream(file) else folder / file.name for key, file in beside.items()}


def check_destinations(text: JobText, job: Job, files: Destinations) -> None:
    """Reject outputs that would replace each other, or what the job is made of.

    What an output itself begins with, as `initial` or as the conditional buffer, is meant to be replaced.

    Raises
    ------
    JobError
        Two names mean one file, be it by a link or another spelling.
    """
    keys = {key: _output_key(job, key) for key in files}
    for one, other in combinations(files, 2):
        if is_same_file(files[one], files[other]):
            raise text.error(keys[other], f"two outputs go to the same file '{files[other]}'")
    for source, name in _sources(job):
        for key, file in files.items():
            if source[:-1] != keys[key][:-1] and is_same_file(file, text.path.parent / name):
                raise text.error(keys[key], f"'{file}' would replace {key_name(source)}; choose another name or folder")
    for key, file in files.items():
        if is_same_file(file, text.path):
            raise text.error(keys[key], f"'{file}' would replace the job itself; choose another name or folder")


def made_of(job: Job, path: Path) -> Iterator[tuple[Path, str]]:
    """What a job is made of: every file that it reads, and its key; the job itself is the first one."""
    yield path, "the job itself"
    for key, name in _sources(job):
        yield path.parent / name, key_name(key)


def _output_key(job: Job, key: int | str) -> Key:
    if key == CONDITIONAL:
        return ("conditional", "file")
    if isinstance(key, str):
        assert job.draw is not None
        return ("draw", "streams", [stream_key(stream.index) for stream in job.draw.streams].index(key), "file")
    return ("outputs", [section.index for section in job.outputs].index(int(key)), "file")


def _sources(job: Job) -> Iterator[tuple[Key, str]]:
    """Every file that a job reads, by its key."""
    for key, name in job.program.names.items():
        yield ("program", key), kernel_in(name)[0]
    for ordinal, launch in enumerate(job.passes):
        if launch.program is not None:
            yield ("passes", ordinal, "program"), kernel_in(launch.program)[0]
        if isinstance(launch.constants.floats, str):
            yield ("passes", ordinal, "constants", "float"), launch.constants.floats
    if isinstance(job.constants.floats, str):
        yield ("constants", "float"), job.constants.floats
    for ordinal, buffer in enumerate(job.inputs):
        yield ("inputs", ordinal, "file"), buffer.file
    for ordinal, output in enumerate(job.outputs):
        if output.initial is not None:
            yield ("outputs", ordinal, "initial"), output.initial
    yield from _sources_of_draw(job)
    if job.conditional is not None and job.conditional.initial is not None:
        yield ("conditional", "initial"), job.conditional.initial


def _sources_of_draw(job: Job) -> Iterator[tuple[Key, str]]:
    if job.draw is None:
        return
    if job.draw.indices is not None:
        yield ("draw", "indices"), job.draw.indices
    for ordinal, vertices in enumerate(job.draw.buffers):
        yield ("draw", "buffers", ordinal, "file"), vertices.file

"""Domains and sizes that are likely not meant: empty, beyond an output, or with padding between numbered elements."""

from collections.abc import Iterable, Iterator, Sequence

from ctm.sim.jobs.program_file import ProgramFile
from ctm.sim.jobs.reading import JobText, Key
from ctm.sim.jobs.schema import Job, Output, Pass
from ctm.sim.runtime.layout import Layout

_SCATTERED = 0
"""The output to which programs write by numbers of elements."""


def domain_warnings(text: JobText, job: Job, programs: Sequence[ProgramFile]) -> Iterator[str]:
    """What to tell the author of a job whose launches run these programs, once for launches that are alike."""
    said = set()
    for ordinal, (launch, program) in enumerate(zip(job.launches, programs, strict=True)):
        for key, message in _doubts(job, launch, program):
            if message not in said:
                said.add(message)
                section: Key = ("domain", key) if job.domain is not None else ("passes", ordinal, f"domain_{key}")
                yield str(text.error(section, message))


def padding_warnings(
    text: JobText, outputs: Sequence[tuple[Output, Layout]], programs: Iterable[ProgramFile]
) -> Iterator[str]:
    """What to tell the author of a job in which a program numbers the elements of an output that has padding."""
    writers = [program.path.name for program in programs if program.executable.scatters]
    for ordinal, (section, layout) in enumerate(outputs):
        if writers and section.index == _SCATTERED and layout.height > 1 and layout.is_padded:
            message = (
                f"{writers[0]} writes elements by their numbers, which count the padding of rows to {layout.pitch} "
                "elements; what it writes there is not in the file. A width that is a multiple of "
                f"{layout.pitch_step} has none"
            )
            yield str(text.error(("outputs", ordinal, "shape"), message))


def _doubts(job: Job, launch: Pass, program: ProgramFile) -> Iterator[tuple[str, str]]:
    """Messages by the direction, i or j, that they are about."""
    directions = (("i", launch.domain_i, 1), ("j", launch.domain_j, 0))
    empty = [(key, first, last) for key, (first, last), _ in directions if first > last]
    for key, first, last in empty:
        yield key, f"[{first}, {last}] is empty, so no pixel runs; the first end comes first"
    # The address of an uncached write is the program's, not where the pixel is in the domain.
    if empty or program.executable.uncached_writes:
        return
    sizes = [
        (f"output {output.index}", output.shape)
        for output in job.outputs
        if output.index in program.executable.notes.outputs
    ]
    if job.conditional is not None and job.conditional.shape is not None:
        sizes.append(("the conditional buffer", job.conditional.shape))
    for key, (first, last), side in directions:
        for name, shape in sizes:
            if last >= shape[side]:
                yield key, f"[{first}, {last}] reaches beyond {name}, which ends at {shape[side] - 1}"

"""A job over a domain of another size."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ctm.sim.jobs.arrays import Array
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.jobs.schema import Domain, Pass
from ctm.sim.runtime.layout import Layout

Size = tuple[int, int]
"""Height and width."""


def size_of(job: LoadedJob) -> Size:
    """Height and width of the domain of the first launch."""
    section = job.launches[0].section
    (i0, i1), (j0, j1) = section.domain_i, section.domain_j
    return j1 - j0 + 1, i1 - i0 + 1


def sized(job: LoadedJob, size: Size) -> LoadedJob:
    """The job over a domain of this size that begins where its own does.

    Buffers that end where the domain does end where the new one does: what they hold is repeated, or cut off. Others,
    and constants, stay as they are.

    Raises
    ------
    ValueError
        It has several passes or a draw, whose domains are not its only sizes, or a buffer cannot have the size.
    """
    if job.job.domain is None or job.draw is not None:
        has = "[draw]" if job.draw is not None else "[[passes]]"
        raise ValueError(f"{job.path.name} has {has}, whose sizes do not follow from the domain: leave out sizes")
    (i0, i1), (j0, j1) = job.job.domain.i, job.job.domain.j
    height, width = size
    domain = Domain(i=(i0, i0 + width - 1), j=(j0, j0 + height - 1))
    old, new = (j1 + 1, i1 + 1), (j0 + height, i0 + width)
    inputs = []
    for input_section, layout, array in job.inputs:
        layout, array = _resized(layout, array, old, new)
        inputs.append((input_section, layout, array))
        is_scaled = any(input_section.index in launch.program.executable.scaled_inputs for launch in job.launches)
        if is_scaled and layout.is_padded:
            raise ValueError(
                f"input {input_section.index} is looked up with scaled coordinates, which needs a width that is a "
                f"legal pitch: {layout.width} is not, the next one is {layout.pitch}"
            )
    outputs = []
    for section, layout, array in job.outputs:
        layout, array = _resized(layout, array, old, new)
        outputs.append((section.model_copy(update={"shape": array.shape[:2]}), layout, array))
    conditional = job.conditional
    if conditional is not None:
        layout, array = _resized(conditional.layout, conditional.array, old, new)
        conditional = replace(conditional, layout=layout, array=array)
    section_of_all = Pass(domain_i=domain.i, domain_j=domain.j)
    return replace(
        job,
        job=job.job.model_copy(update={"domain": domain, "outputs": tuple(section for section, _, _ in outputs)}),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        conditional=conditional,
        launches=tuple(replace(launch, section=section_of_all) for launch in job.launches),
    )


def _resized(layout: Layout, array: Array, old: Size, new: Size) -> tuple[Layout, Array]:
    if array.shape[:2] != old:
        return layout, array
    rows, columns = (np.arange(length) % before for length, before in zip(new, old, strict=True))
    return replace(layout, height=new[0], width=new[1]), np.ascontiguousarray(array[rows][:, columns])


def distinct(sizes: Sequence[Size] | None, own: Size) -> tuple[Size, ...]:
    """Sizes, each once; `own` if there are none."""
    return tuple(dict.fromkeys(sizes or (own,)))

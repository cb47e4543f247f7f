"""The call of a kernel in Python as a job, whose arrays may be larger than memory."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctm.rtl.isa.formats import ELEMENTS, DataFormat
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.compiler.python import Constant, Parameter, Picture, Table
from ctm.sim.elf import Executable
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.jobs.destinations import Destinations
from ctm.sim.jobs.loading import Launch, LoadedJob
from ctm.sim.jobs.schema import Domain, Input, Job, Output, Pass, Program
from ctm.sim.kernels import PythonKernel
from ctm.sim.kernels.arguments import FLOATS, bound, formatted, image, numbers
from ctm.sim.runtime.image import element_type
from ctm.sim.runtime.layout import Layout
from ctm.sim.split.plan import TranslatedProgram
from ctm.sim.split.planes import Plane

_FORMATS = {
    (np.dtype(element_type(each)).name, ELEMENTS[each].channels): each
    for each in (*FLOATS.values(), DataFormat.UINT16_1, DataFormat.UINT8_4)
}


def job_of(
    kernel: PythonKernel[Any, Any], size: tuple[int, int], values: Sequence[Any], isa: str, files: Destinations
) -> LoadedJob:
    """A job that runs a kernel over a domain of a width and a height with arguments; `files` takes its outputs.

    Raises
    ------
    KernelError
        It cannot be compiled.
    TypeError, ValueError
        An argument does not fit; the message names it.
    """
    width, height = size
    translation, executable = kernel.translation, kernel.program(isa)
    signature = translation.signature
    given = dict(zip(signature.parameters, values, strict=True))
    program = TranslatedProgram(
        path=Path(translation.source.name), executable=executable, translation=translation,
        constants=_own(executable),
    )  # fmt: skip
    domain = Domain.model_construct(i=(0, width - 1), j=(0, height - 1))
    section = Pass.model_construct(domain_i=domain.i, domain_j=domain.j)
    launch = Launch(section=section, program=program, constants=_constants(signature.parameters, given, executable))
    job = Job.model_construct(program=Program.model_construct(file=translation.name, isa=isa), domain=domain)
    return LoadedJob(
        job=job, path=program.path, files=files, launches=(launch,), conditional=None,
        inputs=tuple(_inputs(signature.parameters, given)),
        outputs=tuple(_output(number, kind.size, height, width) for number, kind in enumerate(signature.results)),
    )  # fmt: skip


def _inputs(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> Iterator[tuple[Input, Layout, Plane]]:
    for name, kind in parameters.items():
        if isinstance(kind, Picture):
            data_format, plane = _plane(name, kind, given[name])
            section = Input.model_construct(index=kind.number, file=name, format=data_format)
            yield section, _layout(plane.shape[:2], data_format), plane


def _output(number: int, components: int, height: int, width: int) -> tuple[Output, Layout, Plane]:
    """Of components that a format has or that it has more of; pixels that are discarded hold 0."""
    channels = min(each for each in FLOATS if each >= components)
    section = Output.model_construct(index=number, file=str(number), shape=(height, width), format=FLOATS[channels])
    plane = np.broadcast_to(np.zeros((1, 1, channels), np.float32), (height, width, channels))
    return section, _layout((height, width), FLOATS[channels]), plane


def _plane(name: str, kind: Picture, value: Any) -> tuple[DataFormat, Plane]:
    """An argument that is an image; one beyond the machine's buffers is not cut."""
    shape = getattr(value, "shape", ())
    if len(shape) not in (2, 3) or max(shape[:2]) <= COORDINATE_LIMIT:
        return formatted(image(name, kind, value))
    found = np.dtype(value.dtype).newbyteorder("=").name, (*shape, 1)[2]
    if found not in _FORMATS or (kind.type.scalar != "float" and found[0] != "float32"):
        known = ", ".join(f"{each} of {channels}" for each, channels in _FORMATS)
        large = f"beyond {COORDINATE_LIMIT:,} x {COORDINATE_LIMIT:,} an image is {known}, as the machine has them"
        raise TypeError(f"'{name}' is {found[0]} of {found[1]} channels: {large}")
    return _FORMATS[found], value


def _layout(shape: Sequence[int], data_format: DataFormat) -> Layout:
    height, width = (min(side, COORDINATE_LIMIT) for side in shape)
    return Layout(width=width, height=height, format=data_format)


def _own(executable: Executable) -> ConstantFiles:
    own = executable.own_constants
    return ConstantFiles(
        floats={index: tuple(words) for index, words in own.floats.items()}, ints=dict(own.ints)
    )  # fmt: skip


def _constants(parameters: Mapping[str, Parameter], given: Mapping[str, Any], executable: Executable) -> ConstantFiles:
    """The constants of a call: those of its arguments and those that the program brings along."""
    parameters = {name: kind for name, kind in parameters.items() if not isinstance(kind, Picture)}
    floats, ints, _ = bound(parameters, [given[name] for name in parameters], executable).tables
    named = set(executable.own_constants.floats)
    for name, kind in parameters.items():
        if isinstance(kind, Constant):
            named.add(kind.number)
        elif isinstance(kind, Table):
            count = len(numbers(name, kind, given[name]))
            named |= set(range(kind.first, kind.first + count * kind.stride, kind.stride))
    return ConstantFiles(
        floats={index: tuple(int(word) for word in floats[index]) for index in sorted(named)},
        ints={index: int(ints[index]) for index in executable.own_constants.ints},
    )

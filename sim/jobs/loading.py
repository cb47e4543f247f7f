"""Loading of everything that a job names, and the checks that need it. Nothing runs before all of it is right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.assembler.error import AssemblyError, Diagnostic
from ctm.sim.files import is_stream
from ctm.sim.jobs.arrays import Array, check_name, check_npy, elements, filled, load_array, load_elements, load_npy
from ctm.sim.jobs.constants import ConstantFiles, constant_files
from ctm.sim.jobs.destinations import CONDITIONAL, Destinations, check_destinations, destinations, stream_key
from ctm.sim.jobs.domains import domain_warnings, padding_warnings
from ctm.sim.jobs.draw_checks import draw_doubts, draw_errors
from ctm.sim.jobs.program_file import ProgramFile, load_pipeline, load_program, load_stage
from ctm.sim.jobs.reading import JobText, Key
from ctm.sim.jobs.schema import Conditional, Constants, Input, Job, Output, Pass
from ctm.sim.runtime.layout import Layout

_Loaded = TypeVar("_Loaded")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One pass with its program and all its constants."""

    section: Pass
    program: ProgramFile
    constants: ConstantFiles


@dataclass(frozen=True, kw_only=True)
class ConditionalFile:
    """The conditional buffer: elements [height, width, 1], and whether its file has the shape [height, width]."""

    layout: Layout
    array: Array
    is_flat: bool = False


@dataclass(frozen=True)
class DrawFiles:
    """The vertex buffers of a draw by index, and its indices."""

    buffers: dict[int, Array]
    indices: Array | None = None


@dataclass(frozen=True, kw_only=True)
class LoadedJob:
    """A job that can run; `warnings` say what is likely not meant, by key and line."""

    job: Job
    path: Path
    files: Destinations
    launches: tuple[Launch, ...]
    inputs: tuple[tuple[Input, Layout, Array], ...]
    outputs: tuple[tuple[Output, Layout, Array], ...]
    conditional: ConditionalFile | None
    draw: DrawFiles | None = None
    warnings: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The instruction set that the program of each launch is for."""
        return tuple(launch.program.executable.kind for launch in self.launches)


class Loader:
    """Loads one job; errors name the key. `programs` are those that are not read, by their names in the job."""

    limit = COORDINATE_LIMIT
    """The longest side of a domain or a buffer."""

    def __init__(
        self, path: Path, target: Path | None = None, programs: Mapping[str, ProgramFile] | None = None
    ) -> None:
        self._text = JobText(path)
        self._folder = path.parent
        self._job = self._text.parse(self.limit)
        self._files = destinations(self._job, path.parent, target)
        self._programs: dict[str, ProgramFile] = dict(programs or {})

    def load(self) -> LoadedJob:
        """The job with all its files.

        Raises
        ------
        JobError, AssemblyError, KernelError
            Something is missing or does not fit.
        """
        job = self._job
        inputs = tuple(self._input(ordinal, section) for ordinal, section in enumerate(job.inputs))
        outputs = tuple(self._output(ordinal, section) for ordinal, section in enumerate(job.outputs))
        shared = self._constants(("constants",), job.constants)
        launches = tuple(self._launch(ordinal, section, shared) for ordinal, section in enumerate(job.launches))
        programs = [launch.program for launch in launches]
        loaded = LoadedJob(
            job=job,
            path=self._text.path,
            files=self._files,
            launches=launches,
            inputs=inputs,
            outputs=outputs,
            conditional=self._conditional(),
            draw=self._draw(),
            warnings=(
                *(warning for program in self._programs.values() for warning in program.warnings),
                *(
                    str(self._text.error(key, message))
                    for launch in launches[:1]
                    for key, message in draw_doubts(job, launch.program)
                ),
                *domain_warnings(self._text, job, programs),
                *padding_warnings(self._text, [each[:2] for each in outputs], programs),
            ),
        )
        self._check_swaps(loaded)
        for ordinal, launch in enumerate(loaded.launches):
            self._check_bound(ordinal, launch, loaded)
        check_destinations(self._text, job, self._files)
        return loaded

    def _at(self, key: Key, action: Callable[[], _Loaded]) -> _Loaded:
        """Do something whose failure is the fault of a key."""
        try:
            return action()
        except ValueError as error:
            raise self._text.error(key, str(error)) from None

    def _input(self, ordinal: int, section: Input) -> tuple[Input, Layout, Array]:
        key = ("inputs", ordinal, "file")
        array = self._at(key, partial(load_elements, self._folder / section.file, section.format))
        height, width = array.shape[:2]
        return section, self._layout(("inputs", ordinal), section, (height, width)), array

    def _layout(self, key: Key, section: Input | Output | Conditional, shape: tuple[int, int]) -> Layout:
        height, width = shape
        make = partial(Layout, width=width, height=height, format=section.format, tiling=section.tiling)
        return self._at((*key, "tiling"), make)

    def _output(self, ordinal: int, section: Output) -> tuple[Output, Layout, Array]:
        layout = self._layout(("outputs", ordinal), section, section.shape)
        self._at(("outputs", ordinal, "file"), partial(check_name, self._files[section.index], section.format))
        if section.initial is not None:
            load = partial(load_elements, self._folder / section.initial, section.format, section.shape)
            return section, layout, self._at(("outputs", ordinal, "initial"), load)
        make_filled = partial(filled, section.format, section.shape, section.fill or 0.0)
        return section, layout, self._at(("outputs", ordinal, "fill"), make_filled)

    def _conditional(self) -> ConditionalFile | None:
        section = self._job.conditional
        if section is None or section.file is None or section.shape is None:
            return None
        layout = self._layout(("conditional",), section, section.shape)
        self._at(("conditional", "file"), partial(check_name, self._files[CONDITIONAL], section.format))
        if section.fill is not None:
            make_filled = partial(filled, section.format, section.shape, section.fill)
            return ConditionalFile(layout=layout, array=self._at(("conditional", "fill"), make_filled), is_flat=True)
        key = ("conditional", "file" if section.initial is None else "initial")
        source = self._folder / (section.initial or section.file)
        if section.initial is None and (not source.exists() or is_stream(source)):
            return ConditionalFile(layout=layout, array=filled(section.format, section.shape, 0.0))
        array = self._at(key, partial(load_array, source, section.format))
        fitting = self._at(key, partial(elements, source, array, section.format, section.shape))
        return ConditionalFile(layout=layout, array=fitting, is_flat=array.ndim == 2)

    def _draw(self) -> DrawFiles | None:
        section = self._job.draw
        if section is None:
            return None
        buffers = {
            buffer.index: self._at(("draw", "buffers", ordinal, "file"), partial(_vertices, self._folder / buffer.file))
            for ordinal, buffer in enumerate(section.buffers)
        }
        for ordinal, stream in enumerate(section.streams):
            path = self._files[stream_key(stream.index)]
            self._at(("draw", "streams", ordinal, "file"), partial(check_npy, path))
        if section.indices is None:
            return DrawFiles(buffers)
        key = ("draw", "indices")
        indices = self._at(key, partial(load_npy, self._folder / section.indices))
        if indices.dtype not in (np.uint16, np.uint32) or indices.ndim != 1:
            message = (
                f"'{section.indices}' holds {indices.dtype} {list(indices.shape)}; indices are uint16 or uint32 [n]"
            )
            raise self._text.error(key, message)
        if indices.size < section.count:
            message = f"{section.count} of '{section.indices}' are drawn, and it has {indices.size} indices"
            raise self._text.error(("draw", "count"), message)
        return DrawFiles(buffers, indices)

    def _launch(self, ordinal: int, section: Pass, shared: ConstantFiles) -> Launch:
        program = self._program(ordinal, section)
        self._check_pipeline(program)
        own = self._constants(("passes", ordinal, "constants"), section.constants)
        return Launch(section=section, program=program, constants=program.constants | shared | own)

    def _program(self, ordinal: int, section: Pass) -> ProgramFile:
        """The program of a pass, which is read once."""
        own, name = self._job.program, self._job.program.file or self._job.program.pixel
        key: Key = ("program", "file")
        if section.program is not None:
            key, name = ("passes", ordinal, "program"), section.program
        assert name is not None
        if name not in self._programs:
            load = partial(load_program, self._folder, name, own.isa)
            self._programs[name] = self._at(key, load) if own.file is not None else self._pipeline()
        return self._programs[name]

    def _pipeline(self) -> ProgramFile:
        """The program of a draw, of two sources; AssemblyError: of both what is wrong with them."""
        stages = {"vertex": DrawStage.VS, "pixel": DrawStage.PS}
        sources, errors = {}, list[Diagnostic]()
        for key, name in self._job.program.names.items():
            try:
                sources[key] = self._at(("program", key), partial(load_stage, self._folder / name, stages[key]))
            except AssemblyError as error:
                errors += error.errors
        if errors:
            raise AssemblyError(errors)
        return self._at(("program",), partial(load_pipeline, self._folder, self._job, **sources))

    def _check_pipeline(self, program: ProgramFile) -> None:
        """Only programs with a pipeline are drawn with, and those are not started otherwise."""
        has_pipeline = getattr(program.executable, "pipeline", None) is not None
        if has_pipeline and self._job.draw is None:
            raise self._text.error(("program", "file"), f"{program.path.name} is the program of a draw: add [draw]")
        if getattr(program.executable, "stage", None) is not None:
            message = f"{program.path.name} is one program of a draw: it is named as vertex or pixel, not as file"
            raise self._text.error(("program", "file"), message)
        if not has_pipeline and self._job.draw is not None:
            raise self._text.error(("program", "file"), f"{program.path.name} has no pipeline to draw with")
        for key, message in draw_errors(self._job, program):
            raise self._text.error(key, message)

    def _constants(self, key: Key, section: Constants) -> ConstantFiles:
        return self._at((*key, "float"), partial(constant_files, section, self._folder))

    def _check_swaps(self, loaded: LoadedJob) -> None:
        inputs = {section.index: layout for section, layout, _ in loaded.inputs}
        outputs = {section.index: layout for section, layout, _ in loaded.outputs}
        for ordinal, launch in enumerate(loaded.launches):
            for output, index in launch.section.swap:
                key = ("passes", ordinal, "swap")
                if output not in outputs or index not in inputs:
                    raise self._text.error(key, f"output {output} and input {index} must both be in the job")
                if not outputs[output].exchanges_with(inputs[index]):
                    raise self._text.error(key, f"output {output} and input {index} differ in size, format or tiling")

    def _check_bound(self, ordinal: int, launch: Launch, loaded: LoadedJob) -> None:
        """Everything that the program names must be there; a scaled fetch needs a width that is a legal pitch."""
        notes = launch.program.executable.notes
        layouts = {section.index: layout for section, layout, _ in loaded.inputs}
        bound = {
            "inputs": (notes.inputs, layouts.keys()),
            "outputs": (notes.outputs, {section.index for section, _, _ in loaded.outputs}),
            "constants.float": (notes.float_constants, launch.constants.floats.keys()),
            "constants.int": (notes.int_constants, launch.constants.ints.keys()),
        }
        for key, (wanted, given) in bound.items():
            missing = sorted(set(wanted) - set(given))
            if missing:
                noun = key.removesuffix("s") if "." not in key else key.partition(".")[2] + " constant"
                name = launch.program.user_of(f"{noun}s".replace(" ", "_"), missing[0])
                message = f"{name} uses {noun} {missing[0]}, which is not bound"
                raise self._text.error((key.partition(".")[0],), message)
        for index in sorted(launch.program.executable.scaled_inputs):
            layout = layouts.get(index)
            if layout is not None and layout.is_padded:
                position = [section.index for section in self._job.inputs].index(index)
                name = launch.program.user_of("scaled_inputs", index)
                message = (
                    f"{name} looks input {index} up with scaled coordinates, which needs a width that is a legal "
                    f"pitch: {layout.width} is not, the next one is {layout.pitch}"
                )
                raise self._text.error(("inputs", position, "file"), message)


def _vertices(path: Path) -> Array:
    array = load_npy(path)
    if not array.ndim or not array.size:
        raise ValueError(f"'{path}' has shape {list(array.shape)}; a vertex buffer is an array with a row at least")
    return array


def load_job(path: Path, target: Path | None = None, programs: Mapping[str, ProgramFile] | None = None) -> LoadedJob:
    """Load the job file at `path`, whose outputs go beside it or into the folder `target`; see `Loader`."""
    return Loader(path, target, programs).load()

"""Running a kernel: a sample of its job with a profile, or the whole job for its pictures."""

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS, MachineConfig
from ctm.sim.elf import Executable
from ctm.sim.engines.seen import Watching
from ctm.sim.explore.folder import copy_named
from ctm.sim.explore.job import PICTURE, program_name, test_picture
from ctm.sim.explore.request import Cost, Picture, Request, Run
from ctm.sim.jobs.execution import Execution, pixels
from ctm.sim.jobs.execution import Run as Finished
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.jobs.program_file import program_of
from ctm.sim.profile.advice import advice
from ctm.sim.profile.figures import Figures
from ctm.sim.profile.profile import ProgramProfile, profiles
from ctm.sim.runtime.png import picture_of, png

MOST_PIXELS = 1024
"""Of a run whose profile is taken: engine rtl executes some 60,000 cycles a second."""
WATCHDOG = 1 << 20
_MOST_PIXELS = 1 << 20
"""Of a picture that is shown; of a larger one every second pixel is, or every third."""
_ALIGNMENT = 8


def configuration(isa: str) -> MachineConfig:
    """The machine that programs of an instruction set run on."""
    return PRESETS[DEFAULT_PRESETS[isa]]


def ran(request: Request, job: str, executable: Executable, scratch: Path) -> Run:
    """Run a program in a job, whose files are in the kernel's folder; `scratch` is an empty folder to write in.

    Raises
    ------
    JobError, OutsideError, tomllib.TOMLDecodeError, OSError
        The job is wrong.
    MachineError
        The machine says so.
    """
    if request.folder:
        copy_named(job, Path(request.folder), scratch)
    if not (scratch / PICTURE).exists():
        np.save(scratch / PICTURE, test_picture())
    path = scratch / "job.toml"
    path.write_text(job, encoding="utf-8")
    name = program_name(job) or request.name
    loaded = load_job(path, scratch, {name: program_of(Path(request.name), executable)})
    sampled = loaded if request.whole else sample(loaded, executable)
    execution = Execution(
        sampled, engine=request.engine, config=configuration(request.isa), watchdog=WATCHDOG,
        watch=None if request.whole else Watching(),
    )  # fmt: skip
    finished = execution.run()
    profile = None if request.whole else _profile(execution, Path(request.name).name)
    return _run(request, finished, profile, execution.device.ran, _extent(loaded, sampled))


def sample(job: LoadedJob, executable: Executable | None = None) -> LoadedJob:
    """The first launch of a program, or of any, once: at most `MOST_PIXELS` pixels in the middle."""
    of_it = (launch for launch in job.launches if executable is None or launch.program.executable is executable)
    first = next(of_it, job.launches[0])
    spans = [first.section.domain_i, first.section.domain_j]
    sizes = [max(0, end - begin + 1) for begin, end in spans]
    while sizes[0] * sizes[1] > MOST_PIXELS:
        longer = int(sizes[1] > sizes[0])
        sizes[longer] = (sizes[longer] + 1) // 2
    domains = []
    for (begin, end), size in zip(spans, sizes, strict=True):
        middle = (end - begin + 1 - size) // 2
        first_one = begin + middle - middle % _ALIGNMENT
        domains.append((first_one, first_one + size - 1))
    section = first.section.model_copy(update={"domain_i": domains[0], "domain_j": domains[1], "repeat": 1, "swap": ()})
    return replace(job, launches=(replace(first, section=section),))


def _extent(job: LoadedJob, sampled: LoadedJob) -> str:
    launches = sum(launch.section.repeat for launch in job.launches)
    few, count = pixels(sampled), pixels(job) // launches
    if sampled is job:
        return f"{count:,} pixels, {launches:,} launches" if launches > 1 else f"{count:,} pixels"
    pixels_of_it = f"{few:,} of {count:,} pixels" if few < count else f"{few:,} pixels"
    return f"{pixels_of_it}, one of {launches:,} launches" if launches > 1 else pixels_of_it


def _profile(execution: Execution, name: str) -> ProgramProfile | None:
    found = profiles(execution.device.seen(), execution.programs())
    return next((each for each in found if each.name == name), None)


def _run(request: Request, finished: Finished, profile: ProgramProfile | None, engine: str, extent: str) -> Run:
    report = finished.report
    outputs = {f"output {key}" if isinstance(key, int) else key: array for key, array in finished.outputs.items()}
    shown: dict[str, Any] = {}
    if profile is not None:
        lines = {line.line: _cost(each) for line, each in profile.lines.items() if line.file == request.name}
        units = {each.unit: _cost(each.figures) for each in profile.statements}
        shown = {"lines": lines, "units": units, "advice": tuple(advice(profile))}
    return Run(
        isa=request.isa, engine=engine, extent=extent, cycles=report.cycles, instructions=report.instructions,
        whole=_cost(profile.figures if profile is not None else Figures(issues=report.instructions)),
        pictures=tuple(_pictures(outputs.items())), **shown,
    )  # fmt: skip


def _cost(figures: Figures) -> Cost:
    waited = {wait.name.lower(): count for wait, count in figures.waited.items() if count}
    return Cost(issues=figures.issues, cost=figures.cost, efficiency=figures.efficiency, waited=waited)


def _pictures(outputs: Iterable[tuple[str, npt.NDArray[Any]]]) -> Iterable[Picture]:
    for name, array in outputs:
        height, width, channels = array.shape
        shape = f"{width} x {height}, {channels} channel{'s' if channels > 1 else ''}"
        step = 1
        while height * width > step * step * _MOST_PIXELS:
            step += 1
        shades, note = _shades(array[::step, ::step])
        if step > 1:
            note = f"{note}; one pixel in {step} along each axis".removeprefix("; ")
        data = b64encode(png(np.ascontiguousarray(shades))).decode()
        yield Picture(name=name, shape=shape, png=data, note=note)


def _shades(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], str]:
    """An output as shades or colours of a screen, and a note on their scaling."""
    if array.dtype != np.float32:
        found = picture_of(array)
        assert found is not None
        return found[0], ""
    values = np.nan_to_num(array, nan=0.0, posinf=0.0, neginf=0.0)
    note = "" if np.isfinite(array).all() else "infinite numbers and NaN are black; "
    if array.shape[2] == 2:
        # Red and green.
        values = np.concatenate([values, np.zeros_like(values[:, :, :1])], axis=2)
    colours = values[:, :, :3] if values.shape[2] > 1 else values
    low, high = float(colours.min()), float(colours.max())
    if low < 0 or high > 1:
        note += f"{low:.4g} is black, {high:.4g} white"
        colours = (colours - low) / ((high - low) or 1.0)
    return np.rint(255 * np.clip(colours, 0, 1)).astype(np.uint8), note.removesuffix("; ")

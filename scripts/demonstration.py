"""Runs programs through the whole machine, checks them, and writes pictures and a report: scripts/demo."""

import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from ctm.examples.catalogue import FOLDER, R700_REFERENCES, REFERENCES, job
from ctm.examples.early_out.reference import classified
from ctm.examples.expectation import Array, Expectation
from ctm.examples.r700.torus import torus
from ctm.rtl.config import DEFAULT_PRESETS, DRAW_PRESET, PRESETS
from ctm.sim.cli.options.engines import prepare_engine
from ctm.sim.cli.signals import interruptible
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.fault import MachineError
from ctm.sim.jobs.execution import pixels
from ctm.sim.jobs.loading import LoadedJob, load_job
from scripts.compiled import OUTPUT, PROGRAMS, load_compiled
from scripts.findings import Finding, print_table, write_report
from scripts.gallery import COMPILED_EXHIBITS, EXHIBITS, Exhibit, mandelbrot
from scripts.pictures import save
from scripts.profiled import profiled
from scripts.resized import expected as expected_of_side
from scripts.resized import resized
from scripts.stages import COMPILED as COMPILED_ENGINE
from scripts.stages import ENGINE, REFERENCE, Stage, run_compiled, run_stages

FOLDER_OF_RESULTS = Path(__file__).resolve().parents[1] / "out" / "demo"
REPORT = "report.html"
EARLY_OUT, COMPILED, ENLARGED, TORUS, DRAWN = "early_out", "compiled", "enlarged", "torus", "hardware torus"
_DRAWN_SIDE, _COARSE = 128, 4
_SIDES = {"mandelbrot": 128, "r700/mandelbrot": 64}
"""Pixels of a side that the hardware is simulated for, where the example takes longer than one looks."""
_LARGE_SIDE = 1024
"""The same for the engine that compiles."""
_LONGEST = ("blur", "mandelbrot", "nbody", "bitonic")
"""Examples that take longest. They begin first, so that at the end no processor is alone with one of them."""
R700_SHOWN = ("r700/mandelbrot", "r700/matmul", "r700/sha256")
PROFILED = ("mandelbrot", *R700_SHOWN)
"""Examples that may have their profile in the report: the first one that runs has."""
AT_ONCE = (TORUS, ENLARGED)
"""What runs compiled for this computer and needs no model of the hardware: it comes first."""
ALL = (*AT_ONCE, *REFERENCES, COMPILED, *R700_SHOWN)

STAGE_ENDS: Mapping[str, tuple[int, ...]] = {"bitonic": (21, 55, 66), "nbody": (4, 8, 12)}
"""Launches after which an example is looked at."""


def main(
    names: Annotated[list[str] | None, typer.Argument(help=f"{', '.join(ALL)}; all without")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="where the pictures and the report go")] = (
        FOLDER_OF_RESULTS
    ),
    draw: Annotated[bool, typer.Option("--draw", help="draw one scene on the hardware, and nothing else")] = False,
) -> None:
    """Run, check and show programs; exit 1 where a result is wrong."""
    unknown = [name for name in names or () if name not in ALL]
    if draw and names:
        raise typer.BadParameter("--draw takes no names")
    if unknown:
        raise typer.BadParameter(f"there is no example {unknown[0]}")
    output.mkdir(parents=True, exist_ok=True)
    findings: list[Finding] = []
    console = Console(stderr=True)
    wanted = (DRAWN,) if draw else names or ALL
    try:
        for name in (each for each in AT_ONCE if each in wanted):
            found = _findings(name, output)
            findings += found
            for picture in (each.picture for each in found if each.picture is not None):
                console.print(f"a picture: {output / picture}")
        others = [name for name in wanted if name not in AT_ONCE]
        _prepare(sorted({_preset(name) for name in others}))
        with console.status("running programs") as status:
            for finding in demonstrate(others, output):
                findings.append(finding)
                status.update(f"done: {finding.name}")
    except (MachineError, ToolchainError) as error:
        console.print(f"error: {error}", style="bold red")
        raise typer.Exit(1) from None
    profile = next((profiled(name) for name in PROFILED if name in wanted), "")
    write_report(findings, output / REPORT, profile)
    print_table(findings)
    typer.echo(f"pictures: {output}")
    typer.echo(f"report:   {output / REPORT}")
    if not all(finding.is_right for finding in findings):
        raise typer.Exit(1)


def demonstrate(names: Sequence[str], folder: Path) -> Iterator[Finding]:
    """Run the programs, as many at a time as there are processors here; pictures go into `folder`.

    Those that take longest begin first. Findings come in the order of the names.
    """
    order = sorted(names, key=lambda name: _LONGEST.index(name) if name in _LONGEST else len(_LONGEST))
    with ProcessPoolExecutor(initializer=_leave_signals_to_the_parent) as workers:
        try:
            running = {name: workers.submit(_findings, name, folder) for name in order}
            for name in names:
                yield from running[name].result()
        except BaseException:
            for worker in active_children():
                worker.kill()
            raise


def _prepare(presets: Sequence[str]) -> None:
    """Compile the machines that are not in the cache: one here, each other one in a process beside this one."""
    if not presets:
        return
    first, *others = (PRESETS[preset] for preset in presets)
    with ExitStack() as stack:
        processes = [stack.enter_context(Beside(prepare_engine, ENGINE, config)) for config in others]
        prepare_engine(ENGINE, first)
        for process in processes:
            process.result()


def _preset(name: str) -> str:
    """The machine that runs a program."""
    return DRAW_PRESET if name == DRAWN else DEFAULT_PRESETS["r700" if name in R700_SHOWN else "r5xx"]


def _leave_signals_to_the_parent() -> None:
    """In a worker: what a terminal sends to all of them is its parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _findings(name: str, folder: Path) -> list[Finding]:
    if name == COMPILED:
        return [_compiled(program, folder) for program in PROGRAMS]
    if name == ENLARGED:
        return [_enlarged(folder)]
    if name == TORUS:
        return [_torus(folder)]
    if name == DRAWN:
        return [_drawn(folder)]
    return list(_early_out(folder)) if name == EARLY_OUT else [_example(name, folder)]


def _example(name: str, folder: Path) -> Finding:
    reference = {**REFERENCES, **R700_REFERENCES}[name]
    arrays = reference.inputs()
    loaded, expected = load_job(job(name)), reference.expected(arrays)
    if name in _SIDES:
        loaded, expected = resized(loaded, reference, _SIDES[name]), expected_of_side(reference, _SIDES[name])
    stages = list(run_stages(loaded, STAGE_ENDS.get(name, ())))
    finding = _checked(name, loaded, stages, expected)
    return _exhibited(finding, EXHIBITS[name](arrays, stages), folder) if name in EXHIBITS else finding


def _early_out(folder: Path) -> Iterator[Finding]:
    """The first pass; the second one with the conditional buffer that the first one left; all without any condition."""
    name = EARLY_OUT
    first = load_job(FOLDER / name / "classify.toml")
    first_stages = list(run_stages(first))
    yield _checked(f"{name}: pass 1", first, first_stages, classified())

    needed = first_stages[-1].outputs["needed.npy"]
    expected = REFERENCES[name].expected({})
    second = load_job(job(name))
    assert second.conditional is not None
    second = replace(second, conditional=replace(second.conditional, array=needed))
    stages = list(run_stages(second))
    finding = _checked(f"{name}: pass 2", second, stages, expected)
    yield _exhibited(finding, EXHIBITS[name]({"needed.npy": needed[:, :, 0]}, stages), folder)

    everywhere = replace(second, job=second.job.model_copy(update={"conditional": None}), conditional=None)
    steps = {"steps.npy": expected["steps.npy"]}
    yield _checked(f"{name}: all", everywhere, list(run_stages(everywhere)), steps)


def _enlarged(folder: Path) -> Finding:
    """The Mandelbrot set once more, so large that one would not wait for the hardware."""
    reference = REFERENCES["mandelbrot"]
    job_of_all = resized(load_job(job("mandelbrot")), reference, _LARGE_SIDE)
    stages = [run_compiled(job_of_all)]
    finding = _checked("large mandelbrot", job_of_all, stages, expected_of_side(reference, _LARGE_SIDE))
    exhibit = replace(mandelbrot({}, stages), caption="The same by a program that was compiled for this computer")
    return _exhibited(finding, exhibit, folder)


def _torus(folder: Path) -> Finding:
    """A draw: thousands of triangles by vertex and pixel programs, on the engine that compiles and on golden."""
    begun = time.perf_counter()
    picture = torus.draw(torus.SIDE, COMPILED_ENGINE)
    seconds = time.perf_counter() - begun
    is_golden = picture.tobytes() == torus.draw(torus.SIDE, REFERENCE).tobytes()
    finding = Finding(
        name=TORUS, pixels=torus.SIDE**2, cycles=None, taken=None, is_golden=is_golden, seconds=seconds,
        agrees="not compared", worst_error=0.0, is_right=is_golden,
    )  # fmt: skip
    caption = "A draw of 16,384 triangles by a vertex and a pixel program, with a depth test"
    return _exhibited(finding, Exhibit(torus.colours(picture), caption), folder)


def _drawn(folder: Path) -> Finding:
    """The same with fewer triangles on the hardware."""
    begun = time.perf_counter()
    picture = torus.draw(_DRAWN_SIDE, ENGINE, coarse=_COARSE)
    seconds = time.perf_counter() - begun
    is_golden = picture.tobytes() == torus.draw(_DRAWN_SIDE, REFERENCE, coarse=_COARSE).tobytes()
    finding = Finding(
        name=DRAWN, pixels=_DRAWN_SIDE**2, cycles=None, taken=None, is_golden=is_golden, seconds=seconds,
        agrees="not compared", worst_error=0.0, is_right=is_golden,
    )  # fmt: skip
    caption = "A draw of 1,024 triangles by the hardware: every bit is the golden model's"
    return _exhibited(finding, Exhibit(torus.colours(picture), caption), folder)


def _compiled(name: str, folder: Path) -> Finding:
    compiled = load_compiled(name)
    stages = list(run_stages(compiled.job))
    found = stages[-1].outputs[OUTPUT]
    wrong = compiled.errors(found) > 1
    expected = {OUTPUT: Expectation(np.where(wrong[:, :, None], found, compiled.expected[0]))}
    finding = replace(
        _checked(f"GLSL {name}", compiled.job, stages, expected),
        agrees=f"in {1 - wrong.mean():.1%}" if compiled.allowed_share else "to rounding",
        is_right=bool(wrong.mean() <= compiled.allowed_share) and all(stage.difference is None for stage in stages),
    )
    return _exhibited(finding, COMPILED_EXHIBITS[name](found), folder)


def _checked(name: str, loaded: LoadedJob, stages: Sequence[Stage], expected: Mapping[str, Expectation]) -> Finding:
    """Compare every output with what is expected."""
    outputs: Mapping[str, Array] = stages[-1].outputs
    is_golden = all(stage.difference is None for stage in stages)
    is_exact = all(np.max(expectation.tolerance) == 0 for expectation in expected.values())
    return Finding(
        name=name,
        pixels=pixels(loaded),
        cycles=_sum(stage.cycles for stage in stages),
        taken=_sum(stage.taken for stage in stages),
        is_golden=is_golden,
        seconds=sum(stage.seconds for stage in stages),
        agrees="exactly" if is_exact else "to rounding",
        worst_error=max(expectation.worst_error(outputs[file]) for file, expectation in expected.items()),
        is_right=is_golden
        and expected.keys() == outputs.keys()
        and all(expectation.holds(outputs[file]) for file, expectation in expected.items()),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _exhibited(finding: Finding, exhibit: Exhibit, folder: Path) -> Finding:
    """Save the picture of a finding."""
    picture = finding.name.partition(":")[0].replace(" ", "_").replace("/", "_") + ".png"
    save(exhibit.colours, folder / picture)
    return replace(finding, picture=picture, caption=exhibit.caption)


if __name__ == "__main__":
    with interruptible():
        typer.run(main)

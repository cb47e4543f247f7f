"""A split run: launch after launch, each in tiles, from planes into outputs that take their names at the end."""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ctm.sim.engines.engine import Report
from ctm.sim.files import naming
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.split.here import Doing
from ctm.sim.split.plan import LaunchPlan
from ctm.sim.split.planes import Output, Plane, begin_output, copy, read_plane, scratch
from ctm.sim.split.rectangle import Rectangle
from ctm.sim.split.tile import Buffer, Record, Settings, Tile


@dataclass
class Tally:
    """What all tiles counted together, and each of them."""

    tiles: list[dict[str, Any]] = field(default_factory=list)
    counters: Counter[str] = field(default_factory=Counter)
    ran: set[str] = field(default_factory=set)
    remarks: dict[str, None] = field(default_factory=dict)
    memory_bytes: int = 0
    """The most that a process which did tiles had in memory."""

    def add(self, launch: int, pixels: Rectangle, record: Record) -> None:
        """Count a tile."""
        report: Report = record["report"]
        self.tiles.append({
            "launch": launch, "i": [pixels.i0, pixels.i1], "j": [pixels.j0, pixels.j1], "cycles": report.cycles,
            "instructions": report.instructions, "lane_instructions": report.lane_instructions,
            "process": record["process"], "processor_seconds": record["processor_seconds"],
        })  # fmt: skip
        self.counters.update(report.counters)
        self.ran.add(record["ran"])
        self.remarks |= dict.fromkeys(record["remarks"])
        self.memory_bytes = max(self.memory_bytes, record["memory_bytes"])

    @property
    def report(self) -> Report:
        """The sums of all tiles; of cycles too, where engines count them."""
        cycles = [tile["cycles"] for tile in self.tiles]
        return Report(
            cycles=None if not cycles or None in cycles else sum(cycles),
            instructions=sum(tile["instructions"] for tile in self.tiles),
            lane_instructions=sum(tile["lane_instructions"] for tile in self.tiles),
            counters=dict(self.counters),
        )


class SplitRun:
    """A job whose launches have plans; `tell` is called with the pixels of each tile that is done.

    Use it as a context: outputs that were not finished are removed at its end. First comes `begin`, then `run`.
    """

    def __init__(
        self, job: LoadedJob, plans: tuple[LaunchPlan, ...], settings: Settings, tell: Callable[[int], None]
    ) -> None:
        self._job, self._plans, self._settings, self._tell = job, plans, settings, tell
        self._stack = ExitStack()
        self._outputs: dict[int, Output] = {}
        self._read: dict[int, Plane] = {section.index: plane for section, _, plane in job.inputs}
        self._written: dict[int, Plane] = {}
        self._untouched = {section.index for section, _, _ in job.outputs if section.initial is None}
        """Outputs that hold the same everywhere."""
        self.tally = Tally()

    def __enter__(self) -> "SplitRun":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, doing: Doing) -> None:
        """Do all launches and finish the outputs.

        Raises
        ------
        MachineError, CycleLimitError
            A tile failed.
        SplitError, SweepError
            A tile failed for what is not the machine's, or where tiles are done.
        OSError
            An output cannot be written.
        """
        swaps: tuple[tuple[int, int], ...] = ()
        for plan in self._plans:
            launch = self._job.launches[plan.launch]
            for _ in range(launch.section.repeat):
                self._swap(swaps)
                self._launch(plan, doing)
                swaps = launch.section.swap
        for index, output in self._outputs.items():
            if self._written[index] is not output.plane:
                copy(self._written[index], output.plane)
            output.finish()

    def begin(self) -> None:
        """Make the outputs, under other names, with all the space that they will take; OSError: there is none."""
        first = self._plans[0]
        for section, _, plane in self._job.outputs:
            height, width = section.shape
            chunk = min(first.size[1], height), min(first.size[0], width)
            path = self._job.files.get(section.index)
            output = begin_output(path, section.format, section.shape, chunk)
            self._stack.callback(output.close)
            self._outputs[section.index], self._written[section.index] = output, output.plane
            if section.index not in self._untouched or not _covers(first, section.shape):
                with naming(output.path):
                    copy(plane, output.plane)
        layouts = {section.index: layout for section, layout, _ in self._job.outputs}
        for output_index, index in {pair for launch in self._job.launches for pair in launch.section.swap}:
            # What is read in one launch is written in the next one, and the padding of rows is read, too.
            width = max(layouts[output_index].pitch, self._read[index].shape[1])
            folder = self._outputs[output_index].path.parent
            self._read[index] = scratch(folder, self._read[index], width).plane
            self._written[output_index] = scratch(folder, self._written[output_index], width).plane

    def result(self, index: int) -> Plane:
        """The elements of an output, which has no file."""
        return self._outputs[index].plane

    def _swap(self, pairs: tuple[tuple[int, int], ...]) -> None:
        for output, index in pairs:
            self._written[output], self._read[index] = self._read[index], self._written[output]
            self._untouched.discard(output)

    def _launch(self, plan: LaunchPlan, doing: Doing) -> None:
        makers = [partial(self._tile, plan, number) for number in range(len(plan.tiles))]
        for record in doing.records(makers):
            if "error" in record:
                raise record["error"]
            pixels = plan.tiles[record["tile"]]
            for index, values in record["outputs"].items():
                self._keep(index, pixels, values)
            self.tally.add(plan.launch, pixels, record)
            self._tell(pixels.width * pixels.height)
        self._untouched -= {section.index for section, _, _ in self._job.outputs}

    def _keep(self, index: int, pixels: Rectangle, values: Any) -> None:
        height, width = self._written[index].shape[:2]
        inside = pixels.inside(width, height)
        assert inside is not None
        with naming(self._outputs[index].path):
            self._written[index][inside.slices] = values

    def _tile(self, plan: LaunchPlan, number: int) -> Tile:
        pixels = plan.tiles[number]
        i, j = plan.origin_of(pixels)
        windows = {index: plan.window(index, plane, pixels) for index, plane in self._read.items()}
        inputs = {}
        for section, layout, _ in self._job.inputs:
            window = windows[section.index]
            held = window
            if plan.origins is not None and section.index in plan.origins.inputs:
                held = window.moved(-window.i0, -window.j0)
                layout = replace(layout, width=held.width, height=held.height)
            else:
                layout = replace(layout, width=self._read[section.index].shape[1])
            inputs[section.index] = Buffer(
                layout=layout, memory=section.memory, held=held, values=read_plane(self._read[section.index], window)
            )
        outputs = {}
        for written, layout, plane in self._job.outputs:
            height, width = self._written[written.index].shape[:2]
            inside = pixels.inside(width, height)
            before = plane if written.index in self._untouched else self._written[written.index]
            if inside is None or written.index in self._untouched:
                values = read_plane(before, Rectangle(0, 0, 0, 0))
            else:
                values = read_plane(before, inside)
            local = None if inside is None else inside.moved(-i, -j)
            if plan.origins is not None and local is not None:
                layout = replace(layout, width=local.i1 + 1, height=local.j1 + 1)
            elif width <= layout.pitch:
                layout = replace(layout, width=width)
            outputs[written.index] = Buffer(layout=layout, memory=written.memory, held=local, values=values)
        return Tile(
            number=number, launch=plan.launch, domain=pixels.moved(-i, -j), origin=(i, j), inputs=inputs,
            outputs=outputs, floats=plan.constants(pixels, windows), settings=self._settings,
        )  # fmt: skip


def _covers(plan: LaunchPlan, shape: tuple[int, int]) -> bool:
    """Whether tiles write all of an output."""
    return (
        bool(plan.tiles)
        and plan.tiles[0].i0 == plan.tiles[0].j0 == 0
        and (plan.tiles[-1].j1 + 1 >= shape[0] and plan.tiles[-1].i1 + 1 >= shape[1])
    )

"""Running a loaded job on a device."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

import numpy as np

from ctm.rtl.config import DEFAULT_PRESETS, MachineConfig
from ctm.sim.elf import Executable
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.sim.engines.engine import Progress, Report
from ctm.sim.engines.seen import Watching
from ctm.sim.fault import wrong_kind
from ctm.sim.jobs.arrays import Array
from ctm.sim.jobs.destinations import CONDITIONAL, stream_key
from ctm.sim.jobs.loading import DrawFiles, Launch, LoadedJob
from ctm.sim.jobs.schema import Draw
from ctm.sim.runtime.commands import CommandBuffer
from ctm.sim.runtime.device import Device
from ctm.sim.runtime.draws import draw as runtime
from ctm.sim.runtime.draws.draw import IndexArray, StreamTarget, VertexArray, place_rings
from ctm.sim.runtime.image import Image


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run: what the outputs hold, by index or CONDITIONAL, and what the engine counted."""

    outputs: dict[int | str, Array]
    report: Report


class Execution:
    """A job on a device of its own."""

    make_device: type[Device] = Device

    def __init__(
        self,
        job: LoadedJob,
        *,
        engine: str,
        config: MachineConfig,
        watchdog: int,
        progress: Progress | None = None,
        hazards: bool = False,
        max_cycles: int | None = None,
        trace: TextIO | None = None,
        port: str | None = None,
        watch: Watching | None = None,
    ) -> None:
        self._job = job
        self.device = self.make_device(
            engine, config, watchdog=watchdog, progress=progress, hazards=hazards, max_cycles=max_cycles, trace=trace,
            port=port, watch=watch,
        )  # fmt: skip
        self._inputs = {
            section.index: self.device.image(layout, array, section.memory) for section, layout, array in job.inputs
        }
        self._outputs = {
            section.index: self.device.image(layout, array, section.memory) for section, layout, array in job.outputs
        }
        self._conditional: Image | None = None
        if job.conditional is not None and job.job.conditional is not None:
            buffer = job.conditional
            self._conditional = self.device.image(buffer.layout, buffer.array, job.job.conditional.memory)
        self._programs: dict[tuple[Path, str | None], int] = {}
        self._streams: dict[int | str, tuple[int, int]] = {}
        """Where the buffer of each stream is, and its words."""

    def run(self) -> Run:
        """Run every launch, in order.

        Raises
        ------
        MachineError
            A launch failed; nothing is read back.
        """
        swaps: tuple[tuple[int, int], ...] = ()
        starts = Counter[tuple[Path, str | None]]()
        for launch in self._job.launches:
            starts[launch.program.key] += launch.section.repeat
        for launch in self._job.launches:
            constants = [self.device.place(data) for data in launch.constants.images()]
            for _ in range(launch.section.repeat):
                self._swap(swaps)
                self.device.expect(starts[launch.program.key])
                starts[launch.program.key] -= 1
                self.device.run(self._commands(launch, constants))
                swaps = launch.section.swap
        outputs: dict[int | str, Array] = {index: image.read() for index, image in self._outputs.items()}
        if self._conditional is not None:
            outputs[CONDITIONAL] = self._conditional.read()
        for key, (address, words) in self._streams.items():
            outputs[key] = self.device.memory.words(address, words).copy()
        return Run(outputs=outputs, report=self.device.report())

    @property
    def name(self) -> str:
        """The job's."""
        return self._job.path.name

    def programs(self) -> dict[int, tuple[str, Executable]]:
        """Names and executables of the programs that have run, by where they lie in memory."""
        programs: dict[int, tuple[str, Executable]] = {}
        for launch in self._job.launches:
            address = self._programs.get(launch.program.key)
            if address is not None:
                programs[address] = launch.program.key[0].name, launch.program.executable
        return programs

    def _swap(self, pairs: tuple[tuple[int, int], ...]) -> None:
        for output, index in pairs:
            written, read = self._outputs[output], self._inputs[index]
            self._outputs[output] = written.at(read.base)
            self._inputs[index] = read.at(written.base)

    def _commands(self, launch: Launch, constants: list[int]) -> CommandBuffer:
        commands = CommandBuffer()
        commands.set_inst_fmt(self._program(launch)).inv_inst_cache()
        for index, image in self._inputs.items():
            commands.set_inp_fmt(index, image.base, image.layout.format_word, image.layout.height)
        for index, image in self._outputs.items():
            commands.set_out_fmt(index, image.base, image.layout.format_word, image.layout.height)
        commands.set_constf_fmt(constants[0]).set_consti_fmt(constants[1]).set_constb_fmt(constants[2])
        commands.inv_inp_cache().inv_constf_cache().inv_consti_cache().inv_constb_cache()
        self._set_conditional(commands)
        red, green, blue, alpha = self._job.job.masks.output
        commands.set_out_mask(red=red, green=green, blue=blue, alpha=alpha)
        (i0, i1), (j0, j1) = launch.section.domain_i, launch.section.domain_j
        commands.set_domain(i0, j0, i1, j1)
        if self._job.draw is None:
            commands.start_program()
        else:
            self._draw(commands, launch, self._job.draw)
        return commands.flush_out_cache().flush_cond_out_cache().wait_for_idle()

    def _draw(self, commands: CommandBuffer, launch: Launch, files: DrawFiles) -> None:
        section, device = self._job.job.draw, self.device
        assert section is not None and isinstance(launch.program.executable, R700Executable)
        pipeline = launch.program.executable.pipeline
        assert pipeline is not None
        buffers = {
            buffer.index: replace(VertexArray.of(device, files.buffers[buffer.index]), stride=buffer.stride)
            for buffer in section.buffers
        }
        indices = None
        if files.indices is not None:
            indices = IndexArray.of(device, files.indices, restart=section.restart)
        place_rings(device, pipeline, commands)
        draw_of(section, buffers, indices, self._allocate_streams(section)).append(commands.inv_vtx_cache())

    def _allocate_streams(self, section: Draw) -> dict[int, StreamTarget]:
        targets = {}
        for stream in section.streams:
            base = self.device.place(np.full(stream.words, stream.fill, np.float32).tobytes())
            self._streams[stream_key(stream.index)] = base, stream.words
            limit = stream.words if stream.limit is None else stream.limit
            targets[stream.index] = StreamTarget(base=base, dwords=limit, stride=stream.stride)
        return targets

    def _set_conditional(self, commands: CommandBuffer) -> None:
        section = self._job.job.conditional
        if section is None:
            return
        if self._conditional is not None:
            image = self._conditional
            commands.set_cond_out_fmt(image.base, image.layout.format_word, image.layout.height).inv_cond_out_cache()
        commands.append("set_cond_val", section.value)
        commands.set_cond_test(section.test).set_cond_loc(section.location)
        commands.set_cond_out_mask(enable=section.write)

    def _program(self, launch: Launch) -> int:
        """Address of the program's executable, which is placed in memory once."""
        file = launch.program
        if file.key not in self._programs:
            self._programs[file.key] = self.device.place(file.executable)
        return self._programs[file.key]


def draw_of(
    section: Draw,
    buffers: Mapping[int, VertexArray],
    indices: IndexArray | None,
    streams: Mapping[int, StreamTarget],
) -> runtime.Draw:
    """The draw of a job's section, with what it names in memory."""
    return runtime.Draw(
        primitive=section.primitive,
        count=section.count,
        viewport=runtime.Viewport(
            x=section.viewport_x, y=section.viewport_y, z=section.viewport_z, depth=section.depth_range
        ),
        buffers=buffers,
        indices=indices,
        streams=streams,
        point_size=None if section.point_size == "program" else section.point_size,
        **{name: getattr(section, name) for name in _SAME_NAMES},
    )


_SAME_NAMES = (
    "instances", "base_vertex", "first_instance", "provoking", "front", "cull", "near", "far", "discard", "add",
)  # fmt: skip


def check_kinds(job: LoadedJob, config: MachineConfig) -> None:
    """Reject programs that the cores do not run, as the machine would.

    Raises
    ------
    MachineError
        BAD_EXECUTABLE.
    """
    cores = config.array.instruction_set
    for kind in job.kinds:
        if kind != cores:
            preset = DEFAULT_PRESETS.get(kind)
            raise wrong_kind(kind, cores, f"; --preset {preset} is a machine that runs it" if preset else "")


def pixels(job: LoadedJob) -> int:
    """Pixels of all launches together."""
    total = 0
    for launch in job.launches:
        (i0, i1), (j0, j1) = launch.section.domain_i, launch.section.domain_j
        total += launch.section.repeat * max(0, i1 - i0 + 1) * max(0, j1 - j0 + 1)
    return total


def first_difference(found: Run, expected: Run) -> str | None:
    """The first element in which two runs of a job differ, None where they are equal in every bit."""
    for key, array in expected.outputs.items():
        kind = np.dtype(f"u{array.itemsize}")
        differs = np.argwhere(found.outputs[key].view(kind) != array.view(kind))
        if differs.size:
            j, i, channel = (int(index) for index in differs[0])
            words = [
                f"0x{run.outputs[key].view(kind)[j, i, channel]:0{2 * array.itemsize}x}" for run in (found, expected)
            ]
            values = [run.outputs[key][j, i, channel] for run in (found, expected)]
            return (
                f"output {key} differs at (i, j) = ({i}, {j}), channel {channel}: {words[0]} ({values[0]}) "
                f"instead of {words[1]} ({values[1]}); {len(differs)} channels differ in all"
            )
    return None


def count_difference(found: Run, expected: Run) -> str | None:
    """Where two runs with groups of the same size differ in what every engine counts alike."""
    counts = expected.report.equal_counts
    for name, value in found.report.equal_counts.items():
        if value != counts[name]:
            return f"counter {name} is {value:,} instead of {counts[name]:,}"
    return None

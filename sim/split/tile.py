"""What is done for a tile, in this process or at a worker."""

import gc
import os
import platform
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.sim.assembler import AssemblyError
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.engines.choice import ENGINES
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.jobs.arrays import Array
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.runtime.image import Image
from ctm.sim.runtime.layout import Layout
from ctm.sim.split.error import SplitError
from ctm.sim.split.rectangle import Rectangle

FAILURES = (ToolchainError, AssemblyError, OSError, MemoryError, ValueError, TimeoutError, ArithmeticError)
"""What a tile may fail with through no fault of the machine."""
_MUCH = 1 << 24
"""Bytes of a tile's buffers from which its memory is given back at once."""
Record = dict[str, Any]
"""What a tile gives."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How every tile is run."""

    engine: str
    config: MachineConfig
    watchdog: int
    max_cycles: int | None = None


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """A buffer of a tile: its layout, and what it holds in a rectangle of its elements, None if that has none.

    `values` of one row and one column are those of all elements of the rectangle.
    """

    layout: Layout
    memory: str
    held: Rectangle | None
    values: Array


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A tile of a launch: the pixels of the machine's domain, its inputs and outputs, and what it starts from.

    `origin` is the pixel of the whole domain that the machine's (0, 0) is; `floats` are constants beside the launch's.
    """

    number: int
    launch: int
    domain: Rectangle
    origin: tuple[int, int]
    inputs: dict[int, Buffer]
    outputs: dict[int, Buffer]
    floats: Mapping[int, tuple[int, ...]]
    settings: Settings


class TileExecution(Execution):
    """A job without arrays on a device of its own, which has those of a tile."""

    def __init__(self, job: LoadedJob, settings: Settings) -> None:
        super().__init__(
            job, engine=settings.engine, config=settings.config, watchdog=settings.watchdog,
            max_cycles=settings.max_cycles if ENGINES[settings.engine].counts_cycles else None,
        )  # fmt: skip

    def run_tile(self, tile: Tile) -> dict[int, Array]:
        """What the outputs hold in the tile's domain.

        Raises
        ------
        MachineError, CycleLimitError
            The program failed; (i, j) are those of the whole domain.
        """
        domain = tile.domain
        self._inputs = {index: self._image(buffer) for index, buffer in tile.inputs.items()}
        self._outputs = {index: self._image(buffer) for index, buffer in tile.outputs.items()}
        launch = self._job.launches[tile.launch]
        ends = {"domain_i": (domain.i0, domain.i1), "domain_j": (domain.j0, domain.j1), "repeat": 1, "swap": ()}
        constants = replace(launch.constants, floats={**launch.constants.floats, **tile.floats})
        launch = replace(launch, section=launch.section.model_copy(update=ends), constants=constants)
        addresses = [self.device.place(data) for data in constants.images()]
        try:
            self.device.run(self._commands(launch, addresses))
        except MachineError as error:
            if error.i is None or error.j is None:
                raise
            raise replace(error, i=error.i + tile.origin[0], j=error.j + tile.origin[1]) from None
        return {
            index: self._outputs[index].read_rectangle(held.i0, held.j0, held.width, held.height)
            for index, buffer in tile.outputs.items()
            if (held := buffer.held) is not None
        }

    def _image(self, buffer: Buffer) -> Image:
        image, held = self.device.image(buffer.layout, None, buffer.memory), buffer.held
        if held is not None:
            shape = (held.height, held.width, image.channels)
            image.write_rectangle(np.broadcast_to(buffer.values, shape), held.i0, held.j0)
        return image


def run_tile(tile: Tile, job: LoadedJob) -> Record:
    """Run a tile; what it gives, or `error` if it fails."""
    try:
        return _run_tile(tile, job)
    finally:
        # Device, engine and memory refer to each other; Python would let several of them gather.
        if sum(buffer.layout.size for buffer in (*tile.inputs.values(), *tile.outputs.values())) > _MUCH:
            gc.collect()


def _run_tile(tile: Tile, job: LoadedJob) -> Record:
    start = time.process_time()
    try:
        execution = TileExecution(job, tile.settings)
        outputs = execution.run_tile(tile)
    except (MachineError, CycleLimitError) as error:
        return {"tile": tile.number, "error": error}
    except FAILURES as error:
        return failed(tile.number, str(error) or type(error).__name__)
    return {
        "tile": tile.number, "outputs": outputs, "report": execution.device.report(), "ran": execution.device.ran,
        "remarks": tuple(execution.device.remarks),
        "process": f"{platform.node()}:{os.getpid()}", "processor_seconds": round(time.process_time() - start, 6),
        "memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }  # fmt: skip


def failed(number: int, reason: str) -> Record:
    """The record of a tile that failed."""
    return {"tile": number, "error": SplitError(reason.partition("\n")[0])}

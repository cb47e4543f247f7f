"""Draws under a debugger: each program of a draw is a launch of its own, whose threads have names."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.draw.drawer import shapes_of
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Emission, Emitted, Integers, Shaded
from ctm.sim.golden.draw.state import DrawState
from ctm.sim.golden.draw.topology import Primitives
from ctm.sim.golden.draw.vertices import Assembly
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.primitives import PROVOKING_BANK, RECORD_BANK
from ctm.sim.golden.r700.draws.stages import R700Stages
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.golden.r700.image import pipeline_in

SetUp = Callable[[Shaded, Integers], Shapes]
"""The shapes of triangles, or points, of shaded vertices with these corners, [n, 3 or 1]."""
_WRITERS = {"GS": "ES", "DC": "GS"}
"""The program whose ring one reads."""


class Drawing:
    """One draw of a job, as far as it has come; `number` counts the draws.

    `assembly` are its vertices and primitives before a geometry program. Of a draw with one, `emitted` are the
    primitive and the number in it of each vertex that is drawn. `shapes` are what is drawn of vertices that are
    `shaded`; `set_up` does that for others. `programs` are the launches of its programs so far, by stage. On hardware
    `batches` are the threads with which those of each stage's program begin.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.assembly: Assembly | None = None
        self.emitted: tuple[Integers, Integers] | None = None
        self.shapes: Shapes | None = None
        self.shaded: Shaded | None = None
        self.set_up: SetUp | None = None
        self.programs: dict[str, Any] = {}
        self.batches: dict[str, Integers] = {}

    def name(self, launch: Launch[Any], order: int, i: int, j: int) -> str:
        """What a thread of one of its launches is."""
        assert self.assembly is not None
        if isinstance(launch, PixelLaunch):
            return f"({i}, {j}) of {self.primitive(launch, order)}"
        if isinstance(launch, ThreadLaunch) and i >= launch.threads:
            return "no thread"
        if launch.stage == "GS":
            return _primitive(self.assembly, i)
        return self.vertex(i) if launch.stage == "DC" else _assembled(self.assembly, i)

    def primitive(self, launch: PixelLaunch, order: int) -> str:
        """The primitive of a strip, with its vertices."""
        assert self.shapes is not None
        shape = self.shape(launch, order)
        corners = dict.fromkeys(self.shapes.corners[shape].tolist())
        named = ", ".join(map(self.vertex, corners))
        return f"{self._drawn(shape)} ({named})"

    def bank(self, launch: PixelLaunch, order: int, bank: int) -> str:
        """What a bank of constants of a strip's primitive is of: one of its vertices, or itself."""
        assert self.shapes is not None
        shape = self.shape(launch, order)
        if bank == RECORD_BANK:
            return self._drawn(shape)
        number = self.shapes.provoking[shape] if bank == PROVOKING_BANK else self.shapes.corners[shape, bank - 1]
        return self.vertex(int(number))

    def vertex(self, number: int) -> str:
        """A vertex that is drawn."""
        assert self.assembly is not None
        if self.emitted is None:
            return _assembled(self.assembly, number)
        threads, numbers = self.emitted
        return f"vertex {numbers[number]} that {_primitive(self.assembly, int(threads[number]))} emitted"

    def ring(self, launch: ThreadLaunch, dword: int, *, written: bool) -> str:
        """A dword of the ring that a program reads or writes."""
        assert self.assembly is not None
        item = launch.written.shape[1] if written else self.writer(launch).launch.written.shape[1]
        thread, dword = divmod(dword, item)
        if launch.stage == ("ES" if written else "GS"):
            return f"ring dword {dword} of {_assembled(self.assembly, thread)}"
        number, dword = divmod(dword, pipeline_in(launch.program.image).emitted_item)
        return f"ring dword {dword} of vertex {number} that {_primitive(self.assembly, thread)} emitted"

    def writer(self, launch: ThreadLaunch) -> Any:
        """The launch that wrote the ring which a launch reads."""
        return self.programs[_WRITERS[str(launch.stage)]]

    def shape(self, launch: PixelLaunch, order: int) -> int:
        """The shape of a strip."""
        primitives = launch.program.primitives
        assert primitives is not None
        return int(primitives.shape[np.searchsorted(primitives.order, order)])

    def _drawn(self, shape: int) -> str:
        """The primitive of a shape; those that a geometry program emitted are counted through."""
        assert self.shapes is not None and self.assembly is not None
        number = int(self.shapes.primitive[shape])
        return _primitive(self.assembly, number) if self.emitted is None else f"emitted primitive {number}"


def _primitive(assembly: Assembly, number: int) -> str:
    """A primitive of a draw by its number in its instance."""
    instance = int(assembly.instance[assembly.corners[number, 0]])
    return f"primitive {assembly.number[number]}" + (f" of instance {instance}" if instance else "")


def _assembled(assembly: Assembly, number: int) -> str:
    instance = int(assembly.instance[number])
    return f"vertex {assembly.index[number]}" + (f" of instance {instance}" if instance else "")


class DrawnStages(R700Stages):
    """The programs of a draw that keep what the draw is made of."""

    def __init__(self, drawing: Drawing, core: Any, state: Any, draws: DrawState, start: Any) -> None:
        super().__init__(core, state, draws, start)
        self._drawing = drawing
        # Later draws have a state of their own.
        self._drawn = draws.copy()

    def vertices(self, assembly: Assembly) -> Shaded:
        """See `Stages.vertices`."""
        self._drawing.assembly = assembly
        return super().vertices(assembly)

    def geometry(self, assembly: Assembly) -> Emitted:
        """See `Stages.geometry`."""
        self._drawing.assembly = assembly
        return super().geometry(assembly)

    def copies(self, emission: Emission) -> Shaded:
        """See `Stages.copies`."""
        self._drawing.emitted = emission.thread, emission.number
        return super().copies(emission)

    def pixels(self, shaded: Shaded, shapes: Shapes, domain: Domain) -> None:
        """See `Stages.pixels`."""
        self._drawing.shaded, self._drawing.shapes, self._drawing.set_up = shaded, shapes, self._set_up
        super().pixels(shaded, shapes, domain)

    def _set_up(self, shaded: Shaded, corners: Integers) -> Shapes:
        primitives = Primitives(corners, corners[:, 0])
        with np.errstate(all="ignore"):
            return shapes_of(self, self._drawn, shaded, primitives, np.zeros(len(corners), np.int64))

"""The interface of an instruction set to a draw: runs of its programs for vertices, primitives and pixels."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.draws import PrimitiveType
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.topology import Primitives
from ctm.sim.golden.draw.vertices import Assembly
from ctm.sim.golden.pe.domain import Domain

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.signedinteger]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, kw_only=True)
class Shaded:
    """The results of programs for vertices.

    `position` [vertices, 4], `beside` [3, vertices, 4]: size and the like, distances 0 to 3, distances 4 to 7;
    `parameters` [vertices, rows, 4]. `streams` are the words of each stream and which were written, [vertices, stride].
    """

    position: Floats
    beside: Floats
    parameters: Floats
    streams: tuple[tuple[Words, Mask], ...]


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """What geometry programs emitted: the number of vertices of each thread, and in front of which a strip ends."""

    count: Integers
    cut: Mask


@dataclass(frozen=True, kw_only=True)
class Emission:
    """The emitted vertices that a copy program runs for, and the primitives that they form.

    Of each vertex `thread` emitted it and `number` is its number in it, [vertices]; `first` is the thread whose item is
    the first one of the ring for the copy program, [vertices].
    """

    thread: Integers
    number: Integers
    first: Integers
    primitives: Primitives


class Stages(Protocol):
    """The programs of a draw. Errors of all are raised as MachineError when everything has run that can."""

    clip_distances: int
    cull_distances: int
    has_geometry: bool
    by_primitive: bool
    """Whether vertices are of one primitive each."""
    output: PrimitiveType
    """What emitted vertices form."""

    def batched(self, assembly: Assembly) -> Assembly:
        """The same primitives, of vertices as they are shaded: in any order, and any of them more than once."""

    def emission_batched(self, emission: Emission) -> Emission:
        """The same of emitted vertices; of those that form no primitive there may be none."""

    def vertices(self, assembly: Assembly) -> Shaded:
        """Run the vertex program that is not in front of a geometry program."""

    def geometry(self, assembly: Assembly) -> Emitted:
        """Run vertex and geometry program."""

    def copies(self, emission: Emission) -> Shaded:
        """Run the copy program for emitted vertices."""

    def pixels(self, shaded: Shaded, shapes: Shapes, domain: Domain) -> None:
        """Run the pixel program for the strips of shapes, whose vertices are shaded, and store what it leaves."""

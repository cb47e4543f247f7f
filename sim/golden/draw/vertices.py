"""Indices to vertices and primitives: what a draw's programs are run for."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.draws import IndexFormat, PrimitiveType
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.draw.error import bad_draw
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.draw.topology import TOPOLOGIES, primitives_of
from ctm.sim.memory import Memory

Integers = npt.NDArray[np.signedinteger]

_ELEMENTS = {IndexFormat.UINT16: np.uint16, IndexFormat.UINT32: np.uint32}


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """The vertices of a draw, each to be shaded once, and its primitives.

    `index`, `instance` and `primitive` are what a vertex program starts with, [vertices]. `corners` [n, corners] and
    `provoking` [n] are numbers of vertices; `number` is the primitive's in its instance, [n]. `first` is the vertex
    whose item is the first one of the ring for the primitive's geometry program, [n].
    """

    index: Integers
    instance: Integers
    primitive: Integers
    corners: Integers
    provoking: Integers
    number: Integers
    first: Integers


def indices_of(memory: Memory, state: DrawState, count: int) -> Integers:
    """The draw's indices before the base vertex is added: those of the index buffer, or 0, 1, ...

    Raises
    ------
    MachineError
        BUS_ERROR: the indices got an error response.
    """
    if state.index_format is IndexFormat.NONE:
        return np.arange(count, dtype=np.int64)
    element = np.dtype(_ELEMENTS[state.index_format])
    size = count * element.itemsize
    if state.index_address + size > ADDRESS_SPACE or memory.has_error(state.index_address, max(size, 1)):
        raise MachineError(status=Status.BUS_ERROR, client=BusClient.COMMAND, address=state.index_address)
    found: Integers = memory.bytes[state.index_address : state.index_address + size].view(element).astype(np.int64)
    return found


def assemble(memory: Memory, state: DrawState, start: Start, *, by_primitive: bool) -> Assembly:
    """The vertices and primitives of a draw.

    With `by_primitive` each vertex is of one primitive and knows its number; else those of equal indices in an instance
    are one.

    Raises
    ------
    MachineError
        BAD_DRAW, or BUS_ERROR where the indices are.
    """
    kind = check_assembled(state)
    indices, lengths = _runs(indices_of(memory, state, start.count), state.restart)
    indices = (indices + start.base_vertex) % ADDRESS_SPACE
    primitives = primitives_of(kind, lengths, provoking_last=state.raster.provoking_last)
    count, corners = primitives.corners.shape
    if by_primitive:
        vertices = indices[primitives.corners.ravel()]
        numbers = np.arange(vertices.size).reshape(count, corners)
        at = np.argmax(primitives.corners == primitives.provoking[:, None], axis=1)
        provoking = numbers[np.arange(count), at] if count else primitives.provoking
        owner = np.repeat(np.arange(count), corners)
    else:
        used, number_of = np.unique(indices, return_inverse=True)
        vertices, numbers, provoking = used, number_of[primitives.corners], number_of[primitives.provoking]
        owner = np.zeros(used.size, np.int64)
        wanted = np.unique(numbers)
        vertices, owner = vertices[wanted], owner[wanted]
        numbers, provoking = np.searchsorted(wanted, numbers), np.searchsorted(wanted, provoking)
    return _in_instances(vertices, owner, numbers, provoking, start.instances, _kind_corners(kind))


def check_assembled(state: DrawState) -> PrimitiveType:
    """The kind of a draw's primitives; MachineError, BAD_DRAW: it is not assembled."""
    kind = state.raster.kind
    if kind is None or kind not in TOPOLOGIES:
        raise bad_draw(f"primitive type {state.raster.primitive}{f' ({kind.name})' if kind else ''} is not assembled")
    return kind


def _kind_corners(kind: PrimitiveType) -> int:
    """Corners of a primitive of a kind."""
    return int(primitives_of(kind, np.zeros(0, np.int64), provoking_last=True).corners.shape[1])


def _in_instances(
    vertices: Integers, owner: Integers, corners: Integers, provoking: Integers, instances: int, width: int
) -> Assembly:
    """The same vertices and primitives in every instance."""
    count, first = provoking.size, np.arange(instances) * vertices.size
    return Assembly(
        index=np.tile(vertices, instances),
        instance=np.repeat(np.arange(instances), vertices.size),
        primitive=np.tile(owner, instances),
        corners=(corners[None] + first[:, None, None]).reshape(-1, width),
        provoking=(provoking[None] + first[:, None]).ravel(),
        number=np.tile(np.arange(count), instances),
        first=np.zeros(count * instances, np.int64),
    )


def _runs(indices: Integers, restart: int | None) -> tuple[Integers, Integers]:
    """Indices without those that restart, and the length of each run between them."""
    if restart is None:
        return indices, np.array([indices.size])
    breaks = np.flatnonzero(indices == restart)
    edges = np.concatenate([[-1], breaks, [indices.size]])
    return np.delete(indices, breaks), np.diff(edges) - 1

"""What wavefronts store to memory: locations to stop at after a store, and the store that made an element."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.golden.dpp.batch import Batch, Integers, Mask
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer


class Area(NamedTuple):
    """Bytes of memory, from `first` to before `end`."""

    first: int
    end: int

    def area(self, launch: Launch[Any]) -> Self:
        """Itself, whatever the launch."""
        del launch
        return self

    def lanes(self, addresses: Integers, size: int, mask: Mask) -> Mask:
        """Which lanes [n] store a byte of it; arguments are those of `StoreObserver.stored`."""
        begin = addresses % ADDRESS_SPACE
        found: Mask = np.any(mask & (begin < self.end) & (begin + size > self.first), axis=0)
        return found


class Element(NamedTuple):
    """An element of an output, which each launch has somewhere."""

    output: int
    i: int
    j: int

    def area(self, launch: Launch[Any]) -> Area | None:
        """Where a launch has it, if its program stores the output and it is inside."""
        if self.output not in (*launch.program.outputs, *launch.program.uncached_outputs):
            return None
        return element_of(launch.outputs[self.output], self.i, self.j)


def element_of(buffer: Buffer, i: int, j: int) -> Area | None:
    """Where a buffer has an element, if it is inside."""
    if i >= buffer.width_limit or j >= buffer.height_limit:
        return None
    first = int(element_address(buffer, np.array([i]), np.array([j]))[0])
    return Area(first, first + buffer.element.element_bytes)


class Store(NamedTuple):
    """A store: order of the wavefront, instructions that it had executed with it, and the lane."""

    order: int
    step: int
    lane: int


def stores_of(batch: Batch[Any], lanes: Mask) -> Iterator[Store]:
    """Of each wavefront with some of the lanes that store [n] one store."""
    own = lanes.reshape(-1, batch.lanes)
    for group in np.flatnonzero(own.any(axis=1)).tolist():
        yield Store(int(batch.order[group]), int(batch.executed[group]) + batch.steps, int(own[group].argmax()))


class LastStore:
    """Keeps the last store to an area in the order of the domain walk."""

    def __init__(self, area: Area) -> None:
        self._area = area
        self.found: Store | None = None

    def stored(self, batch: Batch[Any], addresses: Integers, size: int, mask: Mask) -> None:
        """See `StoreObserver.stored`."""
        for store in stores_of(batch, self._area.lanes(addresses, size, mask)):
            if self.found is None or store >= self.found:
                self.found = store

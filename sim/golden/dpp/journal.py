"""The record of a launch: counters, faults, hazards and stores, which executors report and observers see."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np

from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.batch import Integers, Mask
from ctm.sim.golden.dpp.constants import BusError
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.hazard import Hazard, Hazards
from ctm.sim.golden.dpp.instruction_set import B, Observer, StoreObserver
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.dpp.sharing import SharingMonitor
from ctm.sim.golden.dpp.tally import Tally
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer


@dataclass(frozen=True)
class Fault:
    """The fault of one wavefront; `order` is its index in the domain walk."""

    order: int
    error: MachineError


class Journal(Generic[B]):
    """The record of one launch. `counters` and `fault` (that of the first wavefront that has one) are its result.

    `hazards` is there where hazards are watched; an instruction set reports its own to it. `describe_pc` gives the
    text for a PC. A tally counts what is issued by instruction, and one observer sees what is stored.
    """

    def __init__(
        self,
        launch: Launch[Any],
        *,
        describe_pc: Callable[[int], str],
        hazards: bool = False,
        observers: Sequence[Observer[B]] = (),
        tally: Tally | None = None,
        stores: StoreObserver[B] | None = None,
    ) -> None:
        self._launch = launch
        self._stores = stores
        self._tally = tally
        self._number = 0 if tally is None else tally.begin(launch)
        self._describe_pc = describe_pc
        self._observers = tuple(observers)
        self._sharing = SharingMonitor() if hazards else None
        self.hazards = Hazards() if hazards else None
        self.counters = Counters()
        self.fault: Fault | None = None

    def guard(self, batch: B, execute: Callable[[B], list[B]]) -> list[B]:
        """Execute for all wavefronts but those that get an error response, which fault; see `BusError`.

        What `execute` raises has changed nothing.
        """
        while True:
            try:
                return execute(batch)
            except BusError as error:
                failed = np.ones(batch.wavefronts, bool) if error.lanes is None else batch.any_lane(error.lanes)
                self.faulted(batch.select(failed), Status.BUS_ERROR, client=error.client, address=error.address)
                if failed.all():
                    return []
                batch = batch.select(~failed)

    def issued(self, batch: B, unit: str) -> None:
        """All wavefronts of `batch` are about to execute an instruction of `unit`."""
        counters = self.counters
        counters.issued[unit] = counters.issued.get(unit, 0) + batch.wavefronts
        counters.lane_instructions += batch.active_lanes
        if self._tally is not None:
            self._tally.add(self._number, batch)

    def executed(self, pc: int, batches: Sequence[B]) -> None:
        """The instruction at `pc` was executed; see `Observer.executed`."""
        for observer in self._observers:
            observer.executed(pc, batches)

    def read(self, batch: B, buffer: Buffer, addresses: list[Integers]) -> None:
        """Active lanes of `batch` read the elements at `addresses`, each [n]."""
        if self._sharing is not None:
            self._sharing.read(batch, buffer, addresses)

    def wrote(self, batch: B, buffer: Buffer, x: Integers, y: Integers, stored: Mask) -> None:
        """Lanes in `stored` wrote the elements (x, y) [n] of `buffer`."""
        if self._stores is not None:
            exists = (x >= 0) & (x < buffer.width_limit) & (y >= 0) & (y < buffer.height_limit)
            addresses = element_address(buffer, np.where(exists, x, 0), np.where(exists, y, 0))
            self._stores.stored(batch, addresses[None], buffer.element.element_bytes, stored[None])
        if self._sharing is not None:
            self._sharing.write(batch, buffer, x, y, stored)

    def read_words(self, batch: B, addresses: Integers, reading: Mask) -> None:
        """Lanes read the 32-bit words at `addresses`, where `reading` says so; both [any, n]."""
        if self._sharing is not None:
            self._sharing.access_words(batch, addresses, reading, writes=False)

    def wrote_words(self, batch: B, addresses: Integers, stored: Mask) -> None:
        """Lanes stored the 32-bit words at `addresses`, where `stored` says so; both [any, n]."""
        if self._stores is not None:
            self._stores.stored(batch, addresses, WORD_BYTES, stored)
        if self._sharing is not None:
            self._sharing.access_words(batch, addresses, stored, writes=True)

    def read_ring(self, batch: B, addresses: Integers, reading: Mask) -> None:
        """Threads of a draw read the 32-bit words at these bytes of the ring, where `reading` says so; [any, n]."""

    def wrote_ring(self, batch: B, addresses: Integers, stored: Mask) -> None:
        """They stored the 32-bit words at these bytes of the ring that they write, where `stored` says so; [any, n]."""

    def ended(self, batch: B) -> None:
        """All wavefronts of `batch` ended: their outputs are sent."""
        for output, stored in self._launch.finish(batch):
            self.wrote(batch, output, batch.i, batch.j, stored)
        for observer in self._observers:
            observer.ended(batch)

    def faulted(
        self, batch: B, status: Status, detail: str = "", *, client: BusClient | None = None, address: int | None = None
    ) -> None:
        """All wavefronts of `batch` stop, without output; `client` and `address` are those of a bus error."""
        first = int(batch.order.argmin())
        if self.fault is None or batch.order[first] < self.fault.order:
            lane = first * batch.lanes
            error = MachineError(
                status=status,
                pc=batch.control.pc,
                i=int(batch.i[lane]),
                j=int(batch.j[lane]),
                place=self._describe_pc(batch.control.pc),
                detail=detail,
                client=client,
                address=address,
            )
            self.fault = Fault(int(batch.order[first]), error)
        for observer in self._observers:
            observer.faulted(batch, status, client)

    @contextmanager
    def kept_where_raised(self) -> Iterator[None]:
        """Discard what was counted in the block, and its fault, if it raises."""
        counters, fault = Counters(), self.fault
        counters.add(self.counters)
        try:
            yield
        except BaseException:
            self.counters, self.fault = counters, fault
            raise

    def all_hazards(self) -> list[Hazard]:
        """Hazards seen, by PC; complete when the whole domain has run."""
        if self.hazards is None or self._sharing is None:
            return []
        self._sharing.report(self.hazards)
        return self.hazards.sorted()

"""The interface of an instruction set to the array: its programs, and one step of a batch."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch, Integers, Mask
from ctm.sim.golden.mc.buffer import Buffer

B = TypeVar("B", bound=Batch[Any])
B_contra = TypeVar("B_contra", bound=Batch[Any], contravariant=True)


class Program(Protocol):
    """A loaded program, as far as the array has to know it."""

    @property
    def temporaries(self) -> int:
        """Temporaries that exist: those above read 0 and swallow writes."""

    @property
    def outputs(self) -> tuple[int, ...]:
        """Output registers that it may write, ascending; they are sent when a wavefront ends."""

    @property
    def uncached_outputs(self) -> tuple[int, ...]:
        """Outputs that it writes past the caches while it runs, at addresses that it computes."""

    def takes_uncached(self, buffer: Buffer) -> bool:
        """Whether an uncached output may be such a buffer; if not, the program ends with BAD_UMRT_FORMAT."""

    @property
    def cached_inputs(self) -> frozenset[int]:
        """Inputs that it may read through the input cache."""

    @property
    def uncached_inputs(self) -> frozenset[int]:
        """Inputs that it may read past the input cache, as they are at that moment."""

    @property
    def conditional_from_program(self) -> bool:
        """Whether the conditional value is the program's; else it is the PE's."""


class Executor(Protocol[B]):
    """Executes one launch of a program for whatever batch it is given.

    It tells its `Journal` of everything that is not in the batches it returns: what it issues, faults, wavefronts that
    end, elements that are read and written.
    """

    def start(self, order: Integers, i: Integers, j: Integers, covered: Mask) -> B:
        """Wavefronts at the program's start; shapes as for `Run.add`."""

    def step(self, batch: B) -> list[B]:
        """Execute one instruction for all wavefronts of `batch`.

        Returns those that go on, a batch for each control state. The first one may be `batch` itself, changed.
        Wavefronts that fault or end are in none.
        """


class Observer(Protocol[B_contra]):
    """Sees what wavefronts do. It must not change the batches, and must copy the arrays that it keeps."""

    def executed(self, pc: int, batches: Sequence[B_contra]) -> None:
        """The instruction at `pc` was executed: the wavefronts that did not fault in it, in the state after it."""

    def faulted(self, batch: B_contra, status: Status, client: BusClient | None) -> None:
        """All wavefronts of `batch` stopped at its PC; `client` is that of a bus error."""

    def ended(self, batch: B_contra) -> None:
        """All wavefronts of `batch` ended, and their outputs were sent."""


class StoreObserver(Protocol[B_contra]):
    """Sees what wavefronts store to memory, of programs' outputs."""

    def stored(self, batch: B_contra, addresses: Integers, size: int, mask: Mask) -> None:
        """Lanes of `batch` stored `size` bytes at `addresses` where `mask` says so, both [any, n]."""

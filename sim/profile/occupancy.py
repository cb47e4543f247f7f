"""How many wavefronts of a program a core has at once, and what bounds them.

Source: docs/design/r5xx-core.md; the hardware is `ctm.rtl.dpp.registers.placement` and `ctm.rtl.r700.occupancy`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ctm.rtl.border.lines import LINE_WORDS
from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES, LDS_BANK_DWORDS, UNIT_BYTES
from ctm.rtl.r700.border.registers import depth_of
from ctm.rtl.r700.code.cache import LINES
from ctm.rtl.r700.partition import Partition
from ctm.sim.elf import Executable
from ctm.sim.elf.r5xx.executable import Executable as R5xxExecutable
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.sim.engines.seen import Seen

CODE_BYTES = LINES * LINE_WORDS * WORD_BYTES
"""Of an R700 core's code cache."""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What leaves a program fewer wave slots than a core has: `amount` of `what`; with `at_most` of it more fit."""

    what: str
    amount: int
    at_most: int


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """Wave slots that a program may use, of those that a core has; what bounds them, None where all are usable."""

    wave_slots: int
    there_are: int
    bound: Bound | None = None


@dataclass(frozen=True, kw_only=True)
class Residency:
    """Wave slots as a program used them, all cores together.

    cycles
        In which a core had wavefronts of it.
    occupied
        Wave slots that had one, summed up over these cycles.
    exposed
        Of these cycles those in which every wavefront of the core waited for results or fetches, and the core did
        nothing else: another wavefront could have issued.
    most_from_memory
        Bytes that memory could have given for fetches meanwhile.
    """

    cycles: int
    occupied: int
    exposed: int
    most_from_memory: int

    @staticmethod
    def of(seen: Seen, address: int) -> "Residency | None":
        """That of the program at an address; None where there are no cycles."""
        rows = seen.residencies[seen.residencies["executable"] == address]
        if not len(rows):
            return None
        sums = {name: int(rows[name].sum()) for name in ("cycles", "occupied", "exposed")}
        return Residency(**sums, most_from_memory=int(rows["cycles"].max()) * seen.bytes_per_cycle)

    @property
    def wave_slots(self) -> float:
        """Wave slots in use, on average."""
        return self.occupied / self.cycles

    @property
    def share_exposed(self) -> float:
        """The share of its cycles that more wavefronts could have used."""
        return self.exposed / self.cycles


def code_fits(executable: Executable) -> bool:
    """Whether a core holds all of a program's code: an R5xx core's RAM fits any, an R700 core has a cache."""
    return not isinstance(executable, R700Executable) or UNIT_BYTES * len(executable.code) <= CODE_BYTES


def occupancy(executable: Executable, array: ArrayConfig) -> Occupancy:
    """That of a program on a core of an array."""
    fits = min(_bounds(executable, array), key=lambda each: each[0])
    wave_slots, what, amount, by_amount = fits
    if wave_slots >= array.threads:
        return Occupancy(wave_slots=array.threads, there_are=array.threads)
    at_most = next((less for less in range(amount - 1, 0, -1) if by_amount(less) > wave_slots), 0)
    bound = Bound(what=what, amount=amount, at_most=at_most)
    return Occupancy(wave_slots=wave_slots, there_are=array.threads, bound=bound)


_Limit = tuple[int, str, int, Callable[[int], int]]
"""Wave slots that something leaves, what and how much of it, and the wave slots for another amount."""


def _bounds(executable: Executable, array: ArrayConfig) -> list[_Limit]:
    def limit(what: str, amount: int, wave_slots: Callable[[int], int]) -> _Limit:
        return wave_slots(amount), what, amount, wave_slots

    if isinstance(executable, R5xxExecutable):
        # A wave slot has a power of two of them.
        registers = executable.highest_temporary + 1
        return [limit("registers", registers, lambda count: array.temporaries >> (count - 1).bit_length())]
    assert isinstance(executable, R700Executable)
    rows, slices = depth_of(array), Partition.of(array).slices
    return [
        limit("registers", executable.gprs, lambda count: rows // ((count + CLAUSE_TEMPORARIES) * slices)),
        limit("stack entries", executable.stack_size, lambda count: array.stack_entries // max(count, 1)),
        limit("dwords of local data", executable.lds_dwords, lambda count: LDS_BANK_DWORDS // max(count, 1)),
    ]

"""The constant files of a program, and the error of a failed read."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import ADDRESS_SPACE, BOOL_CONSTANTS, FLOAT_CONSTANTS, INT_CONSTANTS
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden import fp
from ctm.sim.golden.mc.address import Integers
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import Floats, Mask, read
from ctm.sim.memory import Memory


@dataclass(frozen=True, slots=True)
class IntConstant:
    """Loop parameters: iteration count, first aL, signed step of aL."""

    count: int
    start: int
    step: int


class BusError(Exception):
    """A read of the array failed; `lanes` [n] are those concerned, None all of the batch."""

    def __init__(self, client: BusClient, address: int, lanes: npt.NDArray[np.bool_] | None = None) -> None:
        super().__init__(f"{client.name} at 0x{address:08x}")
        self.client = client
        self.address = address
        self.lanes = lanes


class Constants:
    """The three constant files, read when a program starts; `bases` are those of floats, ints and bools.

    A failed access to memory is reported when an instruction needs the constant. Source: CTM Guide pp. 7 and 38.
    """

    def __init__(self, memory: Memory, float_base: int, int_base: int, bool_base: int) -> None:
        self._memory = memory
        self.bases = (float_base, int_base, bool_base)
        floats = Buffer(base=float_base, pitch=FLOAT_CONSTANTS, format=DataFormat.FLOAT32_4, height=1)
        index = np.arange(FLOAT_CONSTANTS)
        self._floats = np.ascontiguousarray(read(memory, floats, index, np.zeros_like(index)).T)
        self._clean = fp.without_denormals(self._floats)
        self._ints = [
            IntConstant(word & 0xFF, word >> 8 & 0xFF, (word >> 16 & 0xFF ^ 0x80) - 0x80)
            for word in map(int, memory.words(int_base, INT_CONSTANTS))
        ]
        self._bools = [bool(word & 0xFF) for word in memory.words(bool_base, BOOL_CONSTANTS)]

    def float_constant(self, index: int) -> npt.NDArray[np.float32]:
        """Float constant `index`, float32 [4]."""
        self._check(BusClient.FLOAT_CONSTANT, self.bases[0] + 16 * index, 16)
        constant: npt.NDArray[np.float32] = self._floats[index]
        return constant

    def all_floats(self) -> Floats:
        """All float constants [256, 4], also where memory gives an error response."""
        return self._floats

    def all_ints(self) -> list[IntConstant]:
        """All int constants, also where memory gives an error response."""
        return self._ints

    def all_bools(self) -> list[bool]:
        """All bool constants, also where memory gives an error response."""
        return self._bools

    def float_rows(self, rows: Integers, lanes: Mask) -> Floats:
        """The float constants `rows` ([n], or [1] for all lanes) as [4, n] or [4, 1]; those that do not exist are 0.

        Raises
        ------
        BusError
            Memory gave an error response for one that a lane in `lanes` [n] reads.
        """
        exists = (rows >= 0) & (rows < FLOAT_CONSTANTS)
        index = np.where(exists, rows, 0)
        errors = self._memory.errors(self.bases[0] + 16 * index, 16)
        if errors is not None and (errors & exists & lanes).any():
            failed = errors & exists & lanes
            first = int(np.broadcast_to(index, lanes.size)[failed.argmax()])
            address = (self.bases[0] + 16 * first) % ADDRESS_SPACE
            raise BusError(BusClient.FLOAT_CONSTANT, address, failed)
        found = self._floats[index].T.view(np.uint32)
        result: Floats = np.where(exists, found, np.uint32(0)).view(np.float32)
        return result

    def is_clean(self, index: int) -> bool:
        """Whether float constant `index` holds no denormal."""
        return bool(self._clean[index])

    def int_constant(self, index: int) -> IntConstant:
        """Int constant `index`."""
        self._check(BusClient.INT_CONSTANT, self.bases[1] + 4 * index, 4)
        return self._ints[index]

    def bool_constant(self, index: int) -> bool:
        """Bool constant `index`."""
        self._check(BusClient.BOOL_CONSTANT, self.bases[2] + 4 * index, 4)
        return self._bools[index]

    def _check(self, client: BusClient, address: int, size: int) -> None:
        if self._memory.has_error(address, size):
            raise BusError(client, address % ADDRESS_SPACE)

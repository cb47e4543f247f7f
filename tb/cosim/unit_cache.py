"""The cache of the conditional unit alone: words of a memory, with random latency."""

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from ctm.rtl.border.conditional import CHANGE, access_layout, result_layout
from ctm.rtl.co.unit import passenger_layout
from ctm.rtl.isa.word import pack, unpack
from ctm.sim.memory import Memory
from ctm.tb.cosim.ends import Taker

_WORD, _BYTE_BITS = 4, 8
_WORDS_OF_LINE = 16
_POISON = 0xA5A5_A5A5
_WAITING = 6
"""Most accesses that have not been taken."""


class UnitCache:
    """Responds to accesses in their order; in each cycle it withholds a result, or an access, with a probability.

    A result has the effects of all accesses before it, and may be hidden again until it is taken. Bits of a word with
    an error, and of one that is not to be read, are a poison.
    """

    def __init__(self, dut: Any, *, lanes: int, pauses: float, seed: int) -> None:
        self._dut, self._pauses, self._chance = dut, pauses, random.Random(f"cache{seed}")
        self._accesses = Taker(dut, "cache__access", pauses=pauses, seed=seed)
        self._access, self._result = access_layout(passenger_layout(lanes)), result_layout(passenger_layout(lanes))
        self._waiting: deque[dict[str, int]] = deque()
        self._shown = False
        self.memory = Memory()
        self.reads = self.stores = 0
        """Accesses that read, and that stored."""
        dut.cache__empty.value, dut.cache__result.value = 1, 0

    def start(self) -> None:
        """Work from here to the end of the test."""
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        edge = RisingEdge(self._dut.clk)
        while True:
            self._drive()
            await edge
            if self._shown and self._dut.cache__ready.value == 1:
                self._change(self._waiting.popleft())
            access = self._accesses.look()
            if access is not None:
                self._waiting.append(unpack(self._access, access))

    def _drive(self) -> None:
        self._accesses.drive(can=len(self._waiting) < _WAITING)
        self._shown = bool(self._waiting) and self._chance.random() >= self._pauses
        bits, error = _POISON, False
        if self._shown:
            head = self._waiting[0]
            error = self._is_error(head)
            if head["reads"] and head["touches"] and not error:
                bits = self.memory.word(self._address(head))
        passenger = self._waiting[0]["passenger"] if self._shown else 0
        self._dut.cache__result.value = pack(
            self._result, valid=int(self._shown), bits=bits, error=int(error), passenger=passenger
        )
        self._dut.cache__empty.value = not self._waiting

    @staticmethod
    def _address(access: dict[str, int]) -> int:
        return _WORD * (_WORDS_OF_LINE * access["line"] + access["word"])

    def _is_error(self, access: dict[str, int]) -> bool:
        """Only reads have errors: a store's error response comes when its line is written back."""
        return bool(
            access["reads"] and access["touches"] and self.memory.has_error(self._address(access), _WORD)
        )  # fmt: skip

    def _change(self, access: dict[str, int]) -> None:
        """The result was taken: store what the unit has changed."""
        change = unpack(CHANGE, int(self._dut.cache__change.value))
        self.reads += access["reads"] and access["touches"]
        if not access["touches"] or self._is_error(access):
            return
        self.stores += bool(change["mask"])
        for byte in range(_WORD):
            if change["mask"] >> byte & 1:
                value = change["bits"] >> _BYTE_BITS * byte & 0xFF
                self.memory.write(self._address(access) + byte, bytes([value]))

"""The model of a memory chip is worth something: it rejects what data sheets do not allow, and nothing else."""

import ctypes
from pathlib import Path

import pytest

from ctm.sim.compiled.tools.package import BOARDS, LITEDRAM
from ctm.tb.board.traffic import traffic_library

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (BOARDS.is_installed and LITEDRAM.is_installed), reason="needs the extra board"),
]
MODE, REFRESH, PRECHARGE, ACTIVATE, WRITE, READ, STOP, NOTHING = range(8)
ALL = 1 << 10
PERIOD = 10
POWER_UP = 200_000


@pytest.fixture(scope="module")
def library() -> Path:
    return traffic_library()


class Chip:
    """A chip at a clock of 100 MHz; a command comes with the next edge, or with one that is so many ns later."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        pointer, number = ctypes.c_void_p, ctypes.c_uint
        self._library.chip_make.restype = pointer
        self._library.chip_free.argtypes, self._library.chip_violation.argtypes = [pointer], [pointer]
        self._library.chip_violation.restype = ctypes.c_char_p
        self._library.chip_clock.argtypes = [pointer, ctypes.c_uint64, *[number] * 4, ctypes.c_int, ctypes.c_bool]
        self._handle = self._library.chip_make()
        self._time = 0

    def __del__(self) -> None:
        self._library.chip_free(self._handle)

    def do(
        self, command: int = NOTHING, *, bank: int = 0, address: int = 0, mask: int = 0, data: int = -1,
        after: int = PERIOD, cke: bool = True,
    ) -> int:  # fmt: skip
        """What the data pins have after the edge."""
        self._time += after
        return int(self._library.chip_clock(self._handle, self._time, command, bank, address, mask, data, cke))

    def start(self, mode: int = 0x20, refreshes: int = 2) -> None:
        """Up to where a row can be activated."""
        self.do(after=0)
        self.do(PRECHARGE, address=ALL, after=POWER_UP)
        for _ in range(refreshes):
            self.do(REFRESH, after=70)
        self.do(MODE, address=mode, after=70)
        self.do()

    @property
    def violation(self) -> str:
        return str(self._library.chip_violation(self._handle).decode())


def begun(chip: Chip) -> int | None:
    """A row of bank 0 is active, and can be read."""
    chip.start()
    chip.do(ACTIVATE, address=5)
    return chip.do(after=20)


@pytest.mark.parametrize("latency", [2, 3])
def test_words_come_back_with_the_modes_latency(library: Path, latency: int) -> None:
    chip = Chip(library)
    chip.start(latency << 4)
    chip.do(ACTIVATE, bank=2, address=77, after=30)
    chip.do(WRITE, bank=2, address=3, data=0x1234, after=30)
    chip.do(WRITE, bank=2, address=4, data=0x5678)
    chip.do(WRITE, bank=2, address=3, data=0xABCD, mask=0b10)
    chip.do(READ, bank=2, address=3)
    for _ in range(latency - 2):
        chip.do()
    assert chip.do(READ, bank=2, address=4) == 0x12CD
    for _ in range(latency - 2):
        chip.do()
    assert chip.do() == 0x5678
    assert chip.do() != 0x5678
    chip.do(PRECHARGE, address=ALL)
    chip.do(REFRESH, after=30)
    assert not chip.violation


def test_a_row_is_precharged_on_request(library: Path) -> None:
    chip = Chip(library)
    begun(chip)
    chip.do(WRITE, address=ALL | 7, data=0xBEEF)
    chip.do(ACTIVATE, address=6, after=60)
    chip.do(READ, address=ALL | 7, after=30)
    assert chip.do() != 0xBEEF
    chip.do(ACTIVATE, address=5, after=90)
    chip.do(READ, address=7, after=30)
    assert chip.do() == 0xBEEF
    assert not chip.violation


RULES = {
    "a precharge too soon after power-up": lambda chip: (chip.do(), chip.do(PRECHARGE, address=ALL, after=1000)),
    "a precharge of one bank at the start": lambda chip: (chip.do(), chip.do(PRECHARGE, after=POWER_UP)),
    "a mode before banks are precharged": lambda chip: (chip.do(), chip.do(MODE, address=0x20, after=POWER_UP)),
    "a refresh before banks are precharged": lambda chip: (chip.do(), chip.do(REFRESH, after=POWER_UP)),
    "an activate without the first refreshes": lambda chip: (chip.start(refreshes=1), chip.do(ACTIVATE)),
    "an activate in a mode with bursts": lambda chip: (chip.start(0x21), chip.do(ACTIVATE)),
    "an activate in a mode with bursts, or that is reserved": lambda chip: (chip.start(0x120), chip.do(ACTIVATE)),
    "an activate in a mode without CAS latency": lambda chip: (chip.start(0x00), chip.do(ACTIVATE)),
    "an activate without a mode": lambda chip: (
        chip.do(), chip.do(PRECHARGE, address=ALL, after=POWER_UP), chip.do(REFRESH, after=70),
        chip.do(REFRESH, after=70), chip.do(ACTIVATE, after=70),
    ),
    "a command too soon after a mode": lambda chip: (
        chip.start(), chip.do(MODE, address=0x20), chip.do(ACTIVATE),
    ),
    "a command too soon after a refresh": lambda chip: (
        chip.start(), chip.do(REFRESH), chip.do(ACTIVATE, after=60),
    ),
    "a mode while a bank is active": lambda chip: (begun(chip), chip.do(MODE, address=0x20)),
    "a refresh while a bank is active": lambda chip: (begun(chip), chip.do(REFRESH)),
    "a refresh too soon after a precharge": lambda chip: (
        begun(chip), chip.do(PRECHARGE, after=50), chip.do(REFRESH),
    ),
    "an activate of a bank that is active": lambda chip: (begun(chip), chip.do(ACTIVATE, after=100)),
    "an activate too soon after a precharge": lambda chip: (
        begun(chip), chip.do(PRECHARGE, after=50), chip.do(ACTIVATE),
    ),
    "an activate too soon after that of the same bank": lambda chip: (
        begun(chip), chip.do(PRECHARGE, after=25), chip.do(ACTIVATE, after=21),
    ),
    "an activate too soon after another one": lambda chip: (
        chip.start(), chip.do(ACTIVATE), chip.do(ACTIVATE, bank=1),
    ),
    "a read or write of a bank that is not active": lambda chip: (begun(chip), chip.do(READ, bank=1)),
    "a read or write too soon after an activate": lambda chip: (chip.start(), chip.do(ACTIVATE), chip.do(READ)),
    "a precharge too soon after an activate": lambda chip: (begun(chip), chip.do(PRECHARGE)),
    "a precharge too soon after a write": lambda chip: (
        begun(chip), chip.do(WRITE, data=1, after=100), chip.do(PRECHARGE),
    ),
    "a write without data": lambda chip: (begun(chip), chip.do(WRITE)),
    "data driven from both ends": lambda chip: (begun(chip), chip.do(READ), chip.do(WRITE, data=1)),
    "a burst that is ended": lambda chip: (begun(chip), chip.do(STOP)),
    "CKE low after the start": lambda chip: (begun(chip), chip.do(cke=False)),
    "too few refreshes": lambda chip: (begun(chip), chip.do(after=80_000)),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_is_an_error(library: Path, rule: str) -> None:
    chip = Chip(library)
    RULES[rule](chip)
    assert chip.violation.startswith(rule)

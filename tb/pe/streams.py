"""Random command streams: every command, every error, programs that fault, writes that are lost."""

from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa.commands import BY_NAME, BY_WORD, COMMANDS, Command
from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import FORMAT, Tiling
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.isa.word import pack
from ctm.sim.memory import Memory
from ctm.tb.pe.images import SPAN, put_random
from ctm.tb.pe.simulation import Fault, Loss, Timing, Work

LINE = 64
COUNTERS = 0x4000_0000
IMAGES = (0x0010_0000, 0x0010_1000, 0x7FFF_F000, 0xFFFF_F000, 0x0030_0800)
BUFFERS = (0x0001_0000, 0x0002_0004, 0x7FFE_FFC0, 0xFFFD_FF3C, 0xFFFF_FF80, 0xFFFF_EFFC)
"""Where buffers are; a few of them cross a border."""
_OFTEN = {"start_program": 6, "set_domain": 5, "set_cond_val": 3, "set_inst_fmt": 2, "wait_for_idle": 2}
_EDGES = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 4093, 4094, 4095)


@dataclass(frozen=True, kw_only=True)
class Case:
    """Work, and how long all takes."""

    work: Work
    timing: Timing


class Writer:
    """Draws commands."""

    def __init__(self, generator: np.random.Generator, *, errors: float) -> None:
        self._generator, self._errors = generator, errors

    def below(self, limit: int) -> int:
        return int(self._generator.integers(limit))

    def happens(self, probability: float) -> bool:
        return bool(self._generator.random() < probability)

    def _any(self) -> int:
        return self.below(1 << 32)

    def _domain(self) -> list[int]:
        """Mostly small, sometimes empty, with bits that do not count."""
        i0, j0 = (_EDGES[self.below(len(_EDGES))] for _ in range(2))
        i1, j1 = (min(4095, first + self.below(12)) for first in (i0, j0))
        if self.happens(0.1):
            i0, i1 = i1, i0
        if self.happens(0.1):
            j0, j1 = j1, j0
        return [bound | self.below(1 << 20) << 12 for bound in (i0, j0, i1, j1)]

    def _format(self, name: str) -> int:
        is_bad = self.happens(self._errors)
        if name == "set_inst_fmt":
            return self._any() if is_bad else 0
        tilings = [0, 2] if name.startswith("set_const") and not is_bad else [0, 1, 2, 3]
        formats = [5, 6, 7] if is_bad else [0, 1, 2, 2, 2, 3, 4]
        if name.startswith("set_const"):
            formats = list(range(8))
        reserved = {name: self.below(1 << field.width) for name, field in FORMAT if name.startswith("reserved")}
        return pack(
            FORMAT, pitch=self.below(1024), tiling=Tiling(tilings[self.below(len(tilings))]).value,
            format=formats[self.below(len(formats))], **reserved,
        )  # fmt: skip

    def _parameter(self, command: Command, name: str) -> int:
        if name == "format":
            return self._format(command.name)
        if name == "output":
            return self.below(16 if self.happens(self._errors) else 4) | self.below(1 << 28) << 4
        if name == "address":
            return COUNTERS + self.below(1 << 16)
        if name == "base" and command.name == "set_inst_fmt":
            return IMAGES[self.below(len(IMAGES))] + self.below(2048)
        if name == "condition" and self.happens(0.5):
            return ConditionalTest.ALWAYS.value
        if name == "conditional_mask":
            return self._any() & ~int(self.happens(0.7))
        if name == "flags":
            return self._any() | int(self.happens(0.5))
        return self._any()

    def command(self) -> list[int]:
        """A command with its parameters, or, rarely, a word that is none."""
        if self.happens(self._errors / 4):
            words = list(BY_WORD)
            near = words[self.below(len(words))] ^ 1 << self.below(32)
            return [near if near not in BY_WORD else 0]
        names = [command.name for command in COMMANDS for _ in range(_OFTEN.get(command.name, 1))]
        command = BY_NAME[names[self.below(len(names))]]
        word = command.words[self.below(len(command.words))]
        if command.name == "set_domain":
            return [word, *self._domain()]
        return [word, *(self._parameter(command, name) for name in command.parameters)]

    def buffer(self, commands: int) -> list[int]:
        """Words of a buffer; it may end inside a command."""
        prologue = []
        if self.happens(0.8):
            base = IMAGES[self.below(len(IMAGES))]
            prologue = [BY_NAME["set_inst_fmt"].word, base, 0, BY_NAME["set_domain"].word, *self._domain()]
        words = prologue + [word for _ in range(commands) for word in self.command()]
        return words[: self.below(len(words) + 1)] if self.happens(self._errors) else words


def random_timing(generator: np.random.Generator) -> Timing:
    """From everything at once to a far memory and slow units."""
    return Timing(
        latency=int(generator.choice([0, 1, 10, 50])), jitter=int(generator.choice([0, 5, 40])),
        hold=int(generator.choice([0, 1, 10, 60])), delay=int(generator.choice([0, 0, 1, 5, 30])),
        stall=float(generator.choice([0, 0, 0.3, 0.8])), seed=int(generator.integers(1 << 32)),
    )  # fmt: skip


def random_faults(generator: np.random.Generator) -> list[Fault]:
    """Faults of a few wavefronts of the first programs."""
    others = [status for status in Status if status.value >= Status.ILLEGAL_INSTRUCTION.value]
    found = []
    for _ in range(int(generator.integers(5)) if generator.random() < 0.5 else 0):
        status = Status.BUS_ERROR if generator.random() < 0.4 else others[int(generator.integers(len(others)))]
        found.append(
            Fault(
                program=int(generator.integers(5)),
                wavefront=int(generator.integers(6)),
                status=status.value,
                client=int(generator.integers(1, 6)),
                pc=int(generator.integers(513)),
                i=int(generator.integers(4096)),
                j=int(generator.integers(4096)),
                address=int(generator.integers(1 << 32)),
            )  # fmt: skip
        )
    # With one address for each program, it does not matter which of its wavefronts had the first error.
    addresses = {fault.program: fault.address for fault in found}
    return [Fault(**{**vars(fault), "address": addresses[fault.program]}) for fault in found]


def random_losses(generator: np.random.Generator) -> list[Loss]:
    """Writes that are lost in programs and in flushes."""
    clients = (BusClient.OUTPUT, BusClient.CONDITIONAL_OUTPUT)
    return [
        Loss(
            at_flush=bool(generator.random() < 0.5), number=int(generator.integers(3)),
            client=clients[int(generator.integers(2))].value, address=int(generator.integers(1 << 32)),
        )
        for _ in range(int(generator.integers(3)) if generator.random() < 0.3 else 0)
    ]  # fmt: skip


def _error_lines(generator: np.random.Generator, buffers: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of lines in buffers, in images, and where counters are written."""
    indices = [
        *((address + 4 * int(generator.integers(words + 1))) % ADDRESS_SPACE for address, words in buffers),
        *(base + int(generator.integers(SPAN // 2)) for base in IMAGES),
        COUNTERS + 2048 * int(generator.integers(32)),
    ]
    count = int(generator.integers(1, 4)) if generator.random() < 0.3 else 0
    lines = [int(generator.choice(indices)) // LINE for _ in range(count)]
    return [(line, line + int(generator.integers(1, 3))) for line in lines]


def random_case(seed: int, *, commands: int = 25) -> Case:
    """The case of a seed: up to four buffers."""
    generator = np.random.default_rng(seed)
    memory, buffers = Memory(), []
    for base in IMAGES:
        put_random(memory, generator, base, damaged=0.25)
    writer = Writer(generator, errors=float(generator.choice([0, 0, 0.05, 0.3])))
    indices = generator.permutation(len(BUFFERS))[: int(generator.integers(1, 5))]
    for index in sorted(indices):
        words = writer.buffer(int(generator.integers(commands)))
        address = BUFFERS[index]
        contents = np.array(words, "<u4").tobytes()
        head = min(len(contents), ADDRESS_SPACE - address)
        memory.write(address, contents[:head])
        memory.write(0, contents[head:])
        buffers.append((address, len(words)))
    generator.shuffle(buffers)
    buffers = [(int(address), int(words)) for address, words in buffers]
    error_lines = _error_lines(generator, buffers)
    for first, end in error_lines:
        memory.respond_with_errors(first * LINE, min(end * LINE, ADDRESS_SPACE))
    work = Work(
        memory=memory, buffers=buffers, error_lines=error_lines, faults=random_faults(generator),
        losses=random_losses(generator), salt=int(generator.integers(1 << 32)),
    )  # fmt: skip
    return Case(work=work, timing=random_timing(generator))

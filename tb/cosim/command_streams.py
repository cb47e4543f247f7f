"""Random command streams for the whole machine: memory to start with, and command buffers.

Each stream has a few random programs with all that they read and write. A buffer sets programs up, starts them over
small domains, changes formats, masks, conditional value, test and location in between, lets programs read what others
wrote, and maintains the caches wherever the manual asks for it, and sometimes where it does not. So it is defined what
memory holds at the end. A program may fault; therefore no buffer relies on an earlier one.
"""

from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa.commands import BY_WORD
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import ELEMENTS, DataFormat, Tiling
from ctm.rtl.isa.limits import ADDRESS_SPACE, BASE_ALIGNMENT
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.cosim.work import Work
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r5xx.random_cases import Case, random_case
from ctm.tb.r5xx.random_instructions import INPUTS

COUNTERS = 0x6000_0000
"""Where performance counters go."""
_COUNTER_BYTES = 8
_CONDITIONALS = (0x5000_0000, 0xD000_0000)
_SPAN = 0x0100_0000
"""Bytes that a program with its arrays may take."""
_BASES = (0x0000_0000, 0x1234_0000, 0x7E00_0000, 0x8000_0000, 0xC765_0000, 0xFE00_0000)
_BUFFERS = (0x7000_0000, 0xF000_0FF4, 0x7000_1FC0, 0xF000_2004, 0x7000_2FFC, 0xF000_4000)
"""Where command buffers are; some cross lines, pages and bursts at once."""
_BUFFER_STEP = 0x1_0000
_SEED = 0x434F
_COMMANDS_WITH_BASE = ("set_inst_fmt", "set_inp_fmt", "set_out_fmt", "set_cond_out_fmt", "set_constf_fmt",
                       "set_consti_fmt", "set_constb_fmt")  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Stream(Work):
    """Random work, the same for the same seed and number of lanes. The last buffer only flushes."""

    seed: int
    lanes: int


@dataclass(eq=False)
class _Program:
    """A program at its base: commands by name and index (-1 without one), and the layouts that they name."""

    case: Case
    base: int
    commands: dict[tuple[str, int], list[int]]
    domain: tuple[int, int, int, int]
    reads: set[int]
    """Numbers of programs whose outputs it reads."""

    @property
    def is_uncached(self) -> bool:
        return bool(self.case.executable.uncached_writes)


def _relocated(case: Case, base: int) -> _Program:
    """A case with all its addresses moved by `base`."""
    words, position = case.commands.words, 0
    found: dict[tuple[str, int], list[int]] = {}
    domain = (0, 0, 0, 0)
    while position < len(words):
        command = BY_WORD[words[position]]
        parameters = list(words[position + 1 : position + command.length])
        position += command.length
        if command.name == "set_domain":
            domain = (parameters[0], parameters[1], parameters[2], parameters[3])
            continue
        names = list(command.parameters)
        if command.name in _COMMANDS_WITH_BASE:
            at = names.index("base")
            parameters[at] = (parameters[at] + base) % ADDRESS_SPACE
        index = parameters[0] if names[0] in ("input", "output") else -1
        found[command.name, index] = parameters
    return _Program(case, base, found, domain, set())


class _Writer:
    """Draws the buffers of a stream."""

    def __init__(self, generator: np.random.Generator, programs: list[_Program], wavefronts: int) -> None:
        self._generator, self._programs, self._wavefronts = generator, programs, wavefronts
        self._quads = programs[0].case.lanes // 4
        self.commands = CommandBuffer()
        self.skipped: list[tuple[int, int]] = []
        self._counting = False
        self._dirty: set[int] = set()
        self._stale: set[int] = set()

    def _below(self, limit: int) -> int:
        return int(self._generator.integers(limit))

    def _happens(self, probability: float) -> bool:
        return bool(self._generator.random() < probability)

    def begin(self) -> None:
        """Begin a buffer in a state that does not depend on what was before."""
        self.commands = CommandBuffer()
        self._counting = False
        self._dirty, self._stale = set(), set()
        self.commands.flush_out_cache().flush_cond_out_cache().inv_inp_cache().inv_cond_out_cache()
        self.commands.init_perf_counters(enable=False)
        self._conditional()
        self.commands.set_cond_out_mask(enable=self._happens(0.5))

    def start(self, number: int) -> None:
        """Set a program up and start it, once or several times."""
        program = self._programs[number]
        items = list(program.commands.items())
        self._generator.shuffle(items)
        for (name, _), parameters in items:
            self.commands.append(name, *parameters)
        self.commands.inv_constf_cache().inv_consti_cache().inv_constb_cache()
        if self._happens(0.3):
            self.commands.inv_inst_cache()
        self._conditional()
        for _ in range(1 + self._below(3)):
            self._between(program)
            self._maintain(number)
            self.commands.set_domain(*self._domain(program))
            self.commands.start_program()
            (self._stale if program.is_uncached else self._dirty).add(number)
            self._stale.add(number)

    def end(self) -> None:
        """End the buffer, with or without flushes."""
        if self._counting:
            self._count()
        if self._happens(0.5):
            self.commands.wait_for_idle()

    def _maintain(self, number: int) -> None:
        """What the manual asks for in front of a start, and sometimes more."""
        program = self._programs[number]
        reads_changed = bool(program.reads & self._stale)
        if reads_changed or (program.is_uncached and number in self._dirty) or self._happens(0.15):
            self.commands.flush_out_cache()
            self._dirty.clear()
        if reads_changed or self._happens(0.15):
            self.commands.inv_inp_cache()
            self._stale.clear()
        for command in ("flush_cond_out_cache", "inv_cond_out_cache", "wait_for_idle", "inv_constf_cache"):
            if self._happens(0.1):
                self.commands.append(command, 0)

    def _between(self, program: _Program) -> None:
        """Change state that a program uses."""
        if self._happens(0.5):
            red, green, blue, alpha = (self._happens(0.8) for _ in range(4))
            self.commands.set_out_mask(red=red, green=green, blue=blue, alpha=alpha)
        if self._happens(0.3):
            self._conditional()
        if self._happens(0.4):
            self.commands.append("set_cond_val", int(random_floats(self._generator, (1,)).view(np.uint32)[0]))
        if self._happens(0.4):
            self._reformat(program)
        if self._happens(0.2):
            self._counting = not self._counting
            if self._counting:
                self.commands.init_perf_counters(enable=True).start_perf_counters()
            else:
                self._count()

    def _count(self) -> None:
        address = COUNTERS + BASE_ALIGNMENT * self._below(32)
        self.skipped.append((address, _COUNTER_BYTES))
        self.commands.stop_perf_counters().read_perf_counters(address)

    def _reformat(self, program: _Program) -> None:
        """See one of its own inputs in another format that needs no more bytes."""
        index = self._below(INPUTS)
        _, base, _, _ = program.commands["set_inp_fmt", index]
        sizes = {address % ADDRESS_SPACE: len(data) for address, data in _moved(program)}
        for _ in range(8):
            layout = _layout(self._generator)
            # What another program writes has no size here.
            if layout.size <= sizes.get(base, 0):
                self.commands.set_inp_fmt(index, base, layout.format_word, layout.height)
                return

    def _conditional(self) -> None:
        """Another conditional buffer, test, location, or a mask."""
        generator = self._generator
        base = _CONDITIONALS[self._below(2)]
        layout = Layout(
            width=128, height=64, format=DataFormat.FLOAT32_1 if base == _CONDITIONALS[0] else DataFormat.UINT16_1,
            tiling=[Tiling.LINEAR, Tiling.TILED][self._below(2)],
        )  # fmt: skip
        self.commands.set_cond_out_fmt(base, layout.format_word, layout.height)
        tests = [ConditionalTest.ALWAYS] * 4 + list(ConditionalTest)
        self.commands.set_cond_test(tests[int(generator.integers(len(tests)))])
        self.commands.set_cond_loc(ConditionalLocation(self._below(2)))
        self.commands.set_cond_out_mask(enable=self._happens(0.6))

    def _domain(self, program: _Program) -> tuple[int, int, int, int]:
        """A section of the program's domain with few wavefronts, now and then an empty one."""
        i0, j0, i1, j1 = program.domain
        width = min(i1 - i0 + 1, 1 + self._below(2 * self._quads * max(1, self._wavefronts)))
        rows = max(1, 2 * self._wavefronts * self._quads * 2 // max(1, width + 1))
        height = min(j1 - j0 + 1, 1 + self._below(rows))
        i, j = i0 + self._below(i1 - i0 + 2 - width), j0 + self._below(j1 - j0 + 2 - height)
        if self._happens(0.03):
            return i + 1, j, i, j
        return i, j, i + width - 1, j + height - 1


def _moved(program: _Program) -> list[tuple[int, bytes]]:
    return [((address + program.base) % ADDRESS_SPACE, data) for address, data in program.case.contents]


def _layout(generator: np.random.Generator) -> Layout:
    formats = list(DataFormat)
    data_format = formats[int(generator.integers(len(formats)))]
    tilings = list(Tiling) if ELEMENTS[data_format].channels == 1 else [Tiling.LINEAR, Tiling.TILED]
    width, height = (int(generator.integers(1, 70)) for _ in range(2))
    return Layout(width=width, height=height, format=data_format, tiling=tilings[int(generator.integers(len(tilings)))])


def _chain(generator: np.random.Generator, programs: list[_Program]) -> None:
    """Let programs read what others write: outputs as inputs."""
    for number, program in enumerate(programs):
        others = [other for other in range(len(programs)) if other != number]
        for index in range(INPUTS if others else 0):
            if generator.random() < 0.25:
                source = others[int(generator.integers(len(others)))]
                output = int(generator.integers(4))
                words = programs[source].commands["set_out_fmt", output]
                program.commands["set_inp_fmt", index] = [index, *words[1:]]
                program.reads.add(source)


def random_stream(seed: int, *, lanes: int, programs: int = 3, buffers: int = 3, wavefronts: int = 6) -> Stream:
    """Draw `programs` programs and `buffers` buffers besides the last; a start has about `wavefronts` wavefronts."""
    generator = np.random.default_rng([_SEED, seed, lanes])
    indices = [_BASES[position] for position in generator.permutation(len(_BASES))[:programs]]
    cases = [random_case(int(generator.integers(1 << 31)), lanes=lanes) for _ in indices]
    drawn = [_relocated(case, base) for case, base in zip(cases, indices, strict=True)]
    contents = [each for program in drawn for each in _moved(program)]
    assert all(max(address for address, _ in case.contents) < _SPAN for case in cases)
    _chain(generator, drawn)
    for base in _CONDITIONALS:
        contents.append((base, random_floats(generator, (128 * 64,)).tobytes()))
    writer = _Writer(generator, drawn, wavefronts)
    placed = []
    for number in range(buffers + 1):
        writer.begin()
        for _ in range(1 + int(generator.integers(3)) if number < buffers else 0):
            writer.start(int(generator.integers(len(drawn))))
        writer.end()
        address = _BUFFERS[number % len(_BUFFERS)] + number // len(_BUFFERS) * _BUFFER_STEP
        contents.append((address, bytes(writer.commands)))
        placed.append((address, len(writer.commands.words)))
    return Stream(
        seed=seed, lanes=lanes, contents=tuple(contents), buffers=tuple(placed), skipped=tuple(writer.skipped)
    )  # fmt: skip

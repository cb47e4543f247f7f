"""Random work for the whole machine that follows the manual's rules, so that its results are defined."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import ADDRESS_SPACE, COORDINATE_LIMIT, FLOAT_CONSTANTS
from ctm.rtl.isa.link import LINE_BYTES
from ctm.sim.engines.model import Disturbance
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r5xx.random_programs import INT_CONSTANTS
from ctm.tb.soak.coherence import Accesses, Coherence
from ctm.tb.soak.errors import error_ranges, spoil
from ctm.tb.soak.programs import R5XX, Drawn, Executables, Source, damaged
from ctm.tb.soak.regions import Region, Space, draw_layout

_T = TypeVar("_T")
_FLUSHES = ("flush_out_cache", "flush_cond_out_cache")
_INVALIDATES = (
    "inv_inst_cache", "inv_constf_cache", "inv_consti_cache", "inv_constb_cache", "inv_cond_out_cache", "inv_inp_cache",
)  # fmt: skip
_COUNTERS = ("init_perf_counters", "start_perf_counters", "stop_perf_counters", *["read_perf_counters"] * 3)
_DATA = 9
_OUTPUTS = 4
_CONDITIONAL_FORMATS = [DataFormat.FLOAT32_1, DataFormat.UINT16_1]
_SINGLE = [DataFormat.FLOAT32_1]
_ALL = list(DataFormat)
MAINTENANCE = [
    word for name in (*_FLUSHES, "wait_for_idle", *_INVALIDATES) for word in CommandBuffer().append(name, 0).words
]
"""Brings everything to memory and invalidates the caches."""


@dataclass(frozen=True)
class Buffer:
    """A command buffer; with `reset_after` it is run for so many cycles, dropped by a reset, and then run.

    Where it `draws`, the wavefront of a fault is another than the model's; unless it is `counted` some vertices are
    shaded more than once, or threads share other wavefronts.
    """

    address: int
    dwords: int
    reset_after: int | None
    draws: bool = False
    counted: bool = True

    @property
    def equal_of_fault(self) -> int:
        """How much of status, client, PC, i and j of a fault are the model's: a loop ends where its threads let it."""
        if not self.draws:
            return 5
        return 3 if self.counted else 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Work:
    """Everything that a run depends on; the same for the same seed."""

    seed: int
    contents: list[tuple[int, bytes]]
    buffers: list[Buffer]
    maintenance: int
    """Where a buffer for it fits."""
    error_ranges: list[tuple[int, int]]
    """Where memory responds with errors: begin and end of each range."""
    ignored: set[int]
    """Addresses of what the model does not have, counters, and of what is not defined, rings."""
    watchdog: int
    latency: int
    bytes_per_cycle: int
    disturbance: Disturbance


@dataclass
class _Writer:
    """Draws buffers."""

    generator: np.random.Generator
    space: Space
    source: Source
    data_errors: bool
    """Memory responds with errors to accesses to some of the first data region."""
    may_fault: bool
    """Then a draw has one batch: hardware has drawn those before a fault of vertices, the model has drawn nothing."""
    coherence: Coherence = field(default_factory=Coherence)
    commands: list[list[int]] = field(default_factory=list)
    set_to: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)
    counters: list[Region] = field(default_factory=list)
    undefined: list[Region] = field(default_factory=list)
    lines_of_constants: list[range] = field(default_factory=list)
    """Those of their data: nothing reads what else is in their regions."""

    def __post_init__(self) -> None:
        self.data = [self.space.numbers() for _ in range(_DATA)]
        generator = self.generator
        self.floats = [self._constants(random_floats(generator, (FLOAT_CONSTANTS, 4)).tobytes()) for _ in range(2)]
        self.ints = [self._constants(_ints(generator)) for _ in range(2)]
        self.bools = [
            self._constants(generator.choice([0, 1, 0x100, 0x80], 32).astype("<u4").tobytes()) for _ in range(2)
        ]
        self.programs = [self._program() for _ in range(int(generator.integers(1, 4)))]
        self.images = [self.space.place(program.image) for program in self.programs]
        self.broken = self.space.place(damaged(generator, self.programs[0].image, self.source.kind))
        self.counters = [self.space.region(2048) for _ in range(2)]

    @property
    def lines_that_are_read(self) -> list[range]:
        """Images and constants; and of the counters, which are written, the line that is."""
        images = zip(self.programs, self.images, strict=True)
        lines = [lines for program, image in images for lines in program.lines(image.base)]
        return [*self.lines_of_constants, *(region.lines[:1] for region in self.counters), *lines]

    def _constants(self, data: bytes) -> Region:
        region = self.space.place(data)
        self.lines_of_constants.append(region.lines[: -(-len(data) // LINE_BYTES)])
        return region

    def _program(self) -> Executables:
        program = self.source.draw(self.generator)
        while self.may_fault and not program.one_batch:
            program = self.source.draw(self.generator)
        return program

    def happens(self, probability: float) -> bool:
        return bool(self.generator.random() < probability)

    def pick(self, values: Sequence[_T]) -> _T:
        return values[int(self.generator.integers(len(values)))]

    def emit(self, name: str, *parameters: int) -> None:
        self.commands.append(CommandBuffer().append(name, *parameters).words)
        self.coherence.command(name)

    def set(self, name: str, *parameters: int, index: int = -1) -> None:
        """A command that sets state, if it changes anything or now and then."""
        parameters = parameters if index < 0 else (index, *parameters)
        if self.set_to.get((name, index)) != parameters or self.happens(0.1):
            self.emit(name, *parameters)
        self.set_to[name, index] = parameters

    def buffer(self) -> list[list[int]]:
        """Commands of a buffer. State is set again: the buffer before may have ended early."""
        self.commands, self.set_to, self.coherence = [], {}, Coherence()
        self.launched: list[Executables] = []
        for _ in range(int(self.generator.choice([1, 1, 2, 3, 4]))):
            self._launch(int(self.generator.integers(len(self.programs))))
        return self.commands

    def _launch(self, number: int) -> None:
        program = self.programs[number]
        self.launched.append(program)
        order = [self.data[index] for index in self.generator.permutation(_DATA)]
        if (program.uncached or program.scratch) and self.data_errors:
            # After a fetch with an error response the machine's wavefronts write until that has come, the model's do
            # not. The range with errors is therefore in the conditional buffer.
            order = [self.data[0], *(region for region in order if region is not self.data[0])]
        conditional, outputs, remaining = order[0], order[1 : 1 + _OUTPUTS], order[1 + _OUTPUTS :]
        inputs, domain = [self.pick(remaining) for _ in range(self.source.inputs)], self._domain(program)
        layouts = self._outputs(program, outputs)
        if program.own and self.happens(0.6):
            inputs[0] = outputs[0]
        in_place = inputs[0] is outputs[0]
        self._inputs(program, inputs, layouts, in_place=in_place)
        if program.uncached or in_place:
            # All that is read and written has to exist: fetches beyond the edge would meet what others write.
            width, height = layouts[0].pitch, layouts[0].height
            domain = [min(bound, limit - 1) for bound, limit in zip(domain, (width, height) * 2, strict=True)]
        floats = self.pick(self.floats + [region for region in remaining if region.size >= 16 * FLOAT_CONSTANTS])
        self._remaining_state(number, conditional, floats)
        uncached = [outputs[index] for index in _areas(program)]
        written = frozenset() if program.uncached else frozenset(outputs) - frozenset(uncached)
        drawn = None
        if program.scene is not None:
            assert self.source.draw_scene is not None
            drawn = self.source.draw_scene(self.generator, self.space, program, remaining)
            self.undefined += drawn.undefined
            domain = drawn.domain if self.happens(0.7) else domain
        accesses = Accesses(
            read=frozenset(inputs), vertices=drawn.vertices if drawn else frozenset(), floats=floats,
            conditional=conditional, written=written, uncached=frozenset(uncached),
        )  # fmt: skip
        if self.happens(0.3):
            self.emit(self.pick([*_FLUSHES, *_INVALIDATES, "wait_for_idle"]), 0)
        for name in self.coherence.before(accesses):
            self.emit(name, int(self.generator.integers(1 << 32)))
        self._start(accesses, domain, drawn)
        if not (uncached or in_place or self.coherence.before(accesses)) and self.happens(0.3):
            self._start(accesses, self._domain(program), drawn)
        self._idle()

    def _start(self, accesses: Accesses, domain: list[int], drawn: Drawn | None) -> None:
        self.set("set_domain", *domain)
        if self.happens(0.3):
            self.set("set_cond_val", int(np.float32(self.generator.normal()).view(np.uint32)))
        if drawn is None:
            self.emit("start_program", 0)
        else:
            self.commands += drawn.commands
        self.coherence.after(accesses)
        # An error response to a line's write is reported by the next flush, in the model by any command.
        if self.data_errors and self.data[0] == accesses.conditional:
            self.emit("flush_cond_out_cache", 0)
        elif self.data_errors and self.data[0] in accesses.written:
            self.emit("flush_out_cache", 0)

    def _idle(self) -> None:
        """Commands that may stand anywhere."""
        if self.happens(0.15):
            name = self.pick(list(_COUNTERS))
            self.emit(name, self.pick(self.counters).base if name.startswith("read") else 1)
        if self.happens(0.2):
            self.emit("wait_for_idle", 0)

    def _domain(self, program: Executables) -> list[int]:
        generator = self.generator
        if program.short and self.happens(0.03):
            return self.pick([[0, 0, 0, COORDINATE_LIMIT - 1], [0, 0, COORDINATE_LIMIT - 1, 0]])
        width, height = (int(generator.integers(1, limit)) for limit in ((60, 12) if program.short else (14, 8)))
        if self.happens(0.2):
            width = height = 1
        i0, j0 = int(generator.choice([0, 0, 0, 1, 2, 7])), int(generator.choice([0, 0, 0, 1, 3]))
        if self.happens(0.04):
            i0, j0 = self.pick([[COORDINATE_LIMIT - width, j0], [i0, COORDINATE_LIMIT - height]])
        domain = [i0, j0, i0 + width - 1, j0 + height - 1]
        if self.happens(0.04):
            domain = [*domain[2:], *domain[:2]]
        return domain

    def _outputs(self, program: Executables, regions: list[Region]) -> list[Layout]:
        layouts = []
        for index, region in enumerate(regions):
            is_area = index in _areas(program)
            layout = draw_layout(
                self.generator, region, formats=_SINGLE if is_area else _ALL, linear=is_area and self.source.linear
            )
            word = 0 if index and self.happens(0.03) else layout.format_word
            layouts.append(layout)
            self.set("set_out_fmt", region.base, word, layout.height % COORDINATE_LIMIT, index=index)
        return layouts

    def _inputs(self, program: Executables, regions: list[Region], layouts: list[Layout], *, in_place: bool) -> None:
        for index, region in enumerate(regions):
            layout = draw_layout(self.generator, region, formats=_ALL, is_input=True)
            if in_place and index == 0:
                layout = layouts[0]
            word = 0 if not in_place and self.happens(0.03) else layout.format_word
            self.set("set_inp_fmt", region.base, word, layout.height % COORDINATE_LIMIT, index=index)
        if program.uncached and self.source.read_back is not None:
            base, height = self.set_to["set_out_fmt", 0][1], layouts[0].height % COORDINATE_LIMIT
            self.set("set_inp_fmt", base, layouts[0].format_word, height, index=self.source.read_back)

    def _remaining_state(self, number: int, conditional: Region, floats: Region) -> None:
        generator = self.generator
        self.set("set_inst_fmt", self.images[number].base, 0)
        self.set("set_constf_fmt", floats.base, 0)
        self.set("set_consti_fmt", self.pick(self.ints).base, 0)
        self.set("set_constb_fmt", self.pick(self.bools).base, 0)
        layout = draw_layout(generator, conditional, formats=_CONDITIONAL_FORMATS)
        tests = list(ConditionalTest)
        test, mask = self.pick([ConditionalTest.ALWAYS, *tests]), int(self.happens(0.5))
        if self.data_errors and conditional == self.data[0] and test is ConditionalTest.ALWAYS:
            # The machine has the error response when it writes, the model when it tests.
            mask = 0
        self.set("set_cond_out_fmt", conditional.base, layout.format_word, layout.height % COORDINATE_LIMIT)
        self.set("set_cond_test", test.value)
        self.set("set_cond_out_mask", mask)
        location = self.pick(list(ConditionalLocation))
        if self.programs[number].scene is not None and self.happens(0.9):
            location = ConditionalLocation.DPP
        self.set("set_cond_loc", location.value)
        self.set("set_out_mask", 15 if self.happens(0.6) else int(generator.integers(16)))


def _areas(program: Executables) -> list[int]:
    """Outputs that a program writes past the caches."""
    return [0] * program.uncached + [_OUTPUTS - 1] * program.scratch


def _bytes(regions: list[Region]) -> set[int]:
    """Addresses of all of them."""
    return {(region.base + byte) % ADDRESS_SPACE for region in regions for byte in range(region.size)}


def _ints(generator: np.random.Generator) -> bytes:
    rows = [[int(generator.integers(4)), *(int(generator.choice([0, 1, 5, 255])) for _ in range(2)), 7]
            for _ in range(INT_CONSTANTS)]  # fmt: skip
    return bytes(np.array(rows, np.uint8).ravel())


def _reads_of_counters(space: Space, counters: list[Region], ranges: list[tuple[int, int]]) -> list[Buffer]:
    """A buffer that reads counters into each of these regions that is in such a range: others seldom do."""
    found = []
    for region in counters:
        if any(first <= region.base < end for first, end in ranges):
            commands = CommandBuffer().init_perf_counters(enable=True).start_perf_counters()
            commands.read_perf_counters(region.base)
            data = np.array(commands.words, "<u4").tobytes()
            found.append(Buffer(space.place(data).base, len(commands.words), None))
    return found


def draw_work(seed: int, source: Source = R5XX) -> Work:
    """The work of a seed, with programs of a source."""
    generator = np.random.default_rng([seed, 0x50AC])
    space = Space(generator)
    kind = generator.choice(["none", "mistakes", "error responses"], p=[0.5, 0.25, 0.25])
    data_errors = bool(kind == "error responses" and generator.random() < 0.5)
    writer = _Writer(generator, space, source, data_errors, kind == "error responses")
    drafts = []
    for _ in range(int(generator.integers(1, 4))):
        commands = writer.buffer()
        if kind == "mistakes":
            bases = writer.broken.base, writer.images[0].base
            commands = spoil(generator, commands, *bases, draws=source.kind == "r700")
        data = np.array([word for words in commands for word in words], "<u4").tobytes()
        offset = 4 * int(generator.integers(16))
        region = space.place(bytes(offset) + data)
        drafts.append((region, offset, len(data) // 4, writer.launched))
    ranges = []
    if writer.data_errors:
        ranges = error_ranges(generator, [writer.data[0].lines])
    elif kind == "error responses":
        ranges = error_ranges(generator, writer.lines_that_are_read + [draft[0].lines for draft in drafts])
    buffers = [
        Buffer(
            (region.base + offset) % ADDRESS_SPACE, dwords,
            int(generator.choice([20, 200, 1000, 4000]) * generator.random()) if generator.random() < 0.1 else None,
            draws=any(program.scene is not None for program in launched),
            counted=all(program.counted for program in launched),
        )
        for region, offset, dwords, launched in drafts
    ]  # fmt: skip
    maintenance = space.region(2048).base
    buffers += _reads_of_counters(space, writer.counters, ranges)
    ends_soon = generator.random() < 0.06 and all(program.one_batch for program in writer.programs)
    return Work(
        seed=seed, contents=space.contents, buffers=buffers, maintenance=maintenance, error_ranges=ranges,
        ignored=_bytes(writer.undefined) | {region.base + byte for region in writer.counters for byte in range(8)},
        watchdog=int(generator.integers(1, 60)) if ends_soon else 3_000,
        latency=int(generator.choice([1, 10, 50, 50, 200])), bytes_per_cycle=int(generator.choice([1, 16, 16])),
        disturbance=Disturbance(
            jitter=int(generator.choice([0, 0, 5, 60])), stall=float(generator.choice([0, 0, 0.3, 0.8])), seed=seed,
        ),
    )  # fmt: skip

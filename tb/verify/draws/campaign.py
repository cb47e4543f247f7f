"""Random draws on the whole compiled machine, compared with the golden model in all of memory and in counts."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ctm.rtl.config import DRAW_PRESET, PRESETS, MachineConfig
from ctm.rtl.isa.draws import ALL_BY_WORD, STREAMS
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.status import Status
from ctm.sim.engines.engine import Engine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.model import Disturbance
from ctm.sim.engines.rtl import RtlEngine, supply
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.tb.draws.scene import CLEAR, Scene, commands_of
from ctm.tb.draws.soak import batches
from ctm.tb.soak.comparison import Hardware, Model, Outcome
from ctm.tb.system.memories import first_difference
from ctm.tb.verify.campaign import Campaign, Case, Found, Tables
from ctm.tb.verify.draws.drawn import sheet
from ctm.tb.verify.draws.events import events, tables
from ctm.tb.verify.draws.seen import Seen
from ctm.tb.verify.draws.sheet import items, kept, scene_of, simpler
from ctm.tb.verify.hazards import is_defined

_WATCHDOG, _WATCHDOG_OPENED = 1 << 20, 3_000
_MOST_CYCLES, _MOST_CYCLES_OPENED = 4_000_000, 800_000
"""Of a drawn case, and of an opened one: a reduction that meets a hang is to go on soon."""


class DrawCampaign(Campaign):
    """See the module. An opened case is a sheet: see `ctm.tb.verify.draws.sheet`."""

    name = "draws"
    about = "random draws on the whole compiled machine"
    batch = 20
    enough = 10_000
    has_model = True

    def __init__(self, config: MachineConfig = PRESETS[DRAW_PRESET]) -> None:
        self._config = config

    def model(self) -> Path:
        """See `Campaign.model`."""
        return _model(self._config)

    def run(self, case: Case) -> Found:
        """See `Campaign.run`."""
        opened = "vertices" in case
        case = case if opened else sheet(case["seed"])
        made = scene_of(case)
        watchdog, most_cycles = (_WATCHDOG_OPENED, _MOST_CYCLES_OPENED) if opened else (_WATCHDOG, _MOST_CYCLES)
        with Seen() as seen:
            model = _Board(Model(self._config, watchdog=watchdog), self._config)
            wanted = _draw(made, case, model)
        machine = _Board(self._hardware(case, watchdog, most_cycles), self._config)
        what = f"seed {case['seed']}, memory {case['memory']}"
        try:
            found = _draw(made, case, machine)
        except (CycleLimitError, TimeoutError) as error:
            return Found(f"{what}: {error}", "hang")
        difference = _difference(made, machine, found, model, wanted)
        if difference is not None:
            return Found(f"{what}: {difference[1]}", difference[0])
        return Found(events=Counter(events(case, wanted.status, seen, machine.report().counters)))

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        return tables()

    def opened(self, case: Case) -> Case:
        """See `Campaign.opened`."""
        return case if "vertices" in case else sheet(case["seed"])

    def size(self, case: Case) -> int:
        """See `Campaign.size`: lines of programs, and indices or vertices."""
        return len(items(case)) if "vertices" in case else 0

    def kept(self, case: Case, items_: Sequence[int]) -> Case | None:
        """See `Campaign.kept`."""
        listed = items(case)
        return kept(case, [listed[item] for item in items_])

    def simpler(self, case: Case) -> Iterator[Case]:
        """See `Campaign.simpler`: memory, then state, then indices."""
        if case["memory"] != [1, 0, 0.0]:
            yield {**case, "memory": [1, 0, 0.0]}
        yield from simpler(case)

    def is_defined(self, case: Case) -> bool:
        """See `Campaign.is_defined`."""
        model = _Board(GoldenEngine(self._config, watchdog=_WATCHDOG_OPENED, hazards=True), self._config)
        try:
            _run(scene_of(case), case, model)
        except MachineError as error:
            return is_defined(error)
        return True

    def _hardware(self, case: Case, watchdog: int, most_cycles: int) -> Hardware:
        _model(self._config)
        latency, jitter, stall = case["memory"]
        config = replace(self._config, memory=replace(self._config.memory, latency=latency))
        disturbance = Disturbance(jitter=jitter, stall=stall, seed=case["seed"])
        hardware = Hardware(config, watchdog=watchdog, disturbance=disturbance)
        hardware.limit(most_cycles)
        return hardware


class _Board(Device):
    """A device around an engine that is there; `undefined` are bytes of memory of which nothing says what they hold."""

    def __init__(self, engine: GoldenEngine | Hardware, config: MachineConfig) -> None:
        self._own = engine
        super().__init__(config=config)
        self.undefined: set[int] = set()

    @property
    def faults(self) -> Collection[tuple[Any, ...]]:
        """Those of all wavefronts of the golden model."""
        return self._own.faults if isinstance(self._own, Model) else []

    def _make_engine(self, engine: str, config: MachineConfig, **options: Any) -> Engine:
        return self._own


@cache
def _model(config: MachineConfig) -> Path:
    """The compiled machine, for all engines of this process."""
    path = RtlEngine.library(config)
    supply(config, lambda: path)
    return path


def _draw(made: Scene, case: Case, board: _Board) -> Outcome:
    """How a draw ends."""
    try:
        _run(made, case, board)
    except MachineError as error:
        return Outcome.of(error)
    return Outcome(Status.OK)


def _run(made: Scene, case: Case, board: _Board) -> None:
    """Draw a scene, bring it to memory, and say there how far streams are filled.

    Raises
    ------
    MachineError
    CycleLimitError
    """
    layout = Layout(width=made.width, height=made.height, format=DataFormat.FLOAT32_4)
    shape = made.height, made.width
    targets = [board.image(layout, np.full((*shape, 4), CLEAR)) for _ in range(case["targets"])]
    first = np.ones(shape, np.uint16 if made.depth_format is DataFormat.UINT16_1 else np.float32)
    depth = board.image(replace(layout, format=made.depth_format), first)
    filled = board.place(bytes(WORD_BYTES * STREAMS))
    commands = CommandBuffer()
    for number, target in enumerate(targets[1:], 1):
        commands.set_out_fmt(number, target.base, layout.format_word, layout.height)
    commands.words += commands_of(made, board, targets[0].base, depth.base, layout, []).words
    for number in made.streams:
        commands.read_strm(number, filled + WORD_BYTES * number)
    for name, words in _commands(commands.words):
        if name == "set_ring_fmt":
            board.undefined |= set(range(words[1], words[1] + WORD_BYTES * words[2]))
    board.run(commands)


def _commands(words: Sequence[int]) -> Iterator[tuple[str, Sequence[int]]]:
    """The commands of a buffer: names and parameters."""
    at = 0
    while at < len(words):
        command = ALL_BY_WORD[words[at]]
        end = at + 1 + len(command.parameters)
        yield command.name, words[at + 1 : end]
        at = end


def _difference(made: Scene, machine: _Board, found: Outcome, model: _Board, wanted: Outcome) -> tuple[str, str] | None:
    """Kind and text of how the machine differs from the model, if it does."""
    if Status.OK in (found.status, wanted.status) or found.status is Status.BAD_DRAW:
        if found != wanted:
            return "outcome", f"{found}, expected {wanted}"
    else:
        allowed = {(wanted.status, wanted.client), *(fault[:2] for fault in model.faults)}
        if (found.status, found.client) not in allowed:
            return "outcome", f"{found}, expected {wanted}"
        # The hardware has drawn the batches before the fault, and the model perhaps nothing.
        return None
    address = first_difference(machine.memory, model.memory, ignored=machine.undefined)
    if address is not None:
        found_, wanted_ = (int(board.memory.words(address // 4 * 4, 1)[0]) for board in (machine, model))
        return "memory", f"memory differs at 0x{address:08x}: 0x{found_:08x}, expected 0x{wanted_:08x}"
    counts, expected = machine.report().equal_counts, model.report().equal_counts
    if wanted.status is Status.OK and _is_counted(made) and counts != expected:
        return "counts", f"{counts}, expected {expected}"
    return None


def _is_counted(made: Scene) -> bool:
    """Whether the hardware shades each vertex once, and in the same wavefronts: in one batch."""
    pipeline = made.program.pipeline if made.program is not None else None
    if pipeline is None or pipeline.geometry is not None or pipeline.primitive_number or made.streams:
        return False
    found, shaded, wanted = batches(made)
    return found == 1 and shaded == wanted

"""The command processor: executes command buffers from memory.

Source: CTM Guide pp. 8-22. Every command completes before the next one begins. Caches are not modelled: a program that
follows the manual's rules for invalidating and flushing cannot tell.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ctm.rtl.isa.commands import BASE_MASK, BY_WORD, Command
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.draws import ALL_BY_WORD, DRAW_OUTPUTS, STREAMS
from ctm.rtl.isa.limits import ADDRESS_SPACE, OUTPUTS
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.draw.drawer import Drawer
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.pe.core import Core
from ctm.sim.golden.pe.domain import Domain, DomainWavefronts
from ctm.sim.golden.pe.state import State, check_parameters
from ctm.sim.memory import Memory

BATCH_LANES = 16384
"""Pixels that run together: enough to hide the cost of the interpreter, few enough for the host's caches."""

_REPORTS_LOST_WRITES = ("wait_for_idle", "flush_out_cache", "flush_cond_out_cache")

Progress = Callable[[int], None]
"""Called with the pixels of the domain that were walked, some at a time."""


class CommandProcessor:
    """Executes command buffers and gives work to `core`; domains are walked in `tiles`, see `Domain.wavefronts`.

    With `draws` it knows the commands of draws, too.
    """

    def __init__(
        self,
        memory: Memory,
        core: Core,
        *,
        tiles: Sequence[int] = (),
        progress: Progress | None = None,
        batch_lanes: int = BATCH_LANES,
        draws: bool = False,
    ) -> None:
        self._memory = memory
        self._core = core
        self._tiles = tiles
        self._progress = progress
        self._batch_lanes = batch_lanes
        self.state = State()
        self.draws = DrawState()
        self._by_word = ALL_BY_WORD if draws else BY_WORD
        self._targets = DRAW_OUTPUTS if draws else OUTPUTS
        self._drawer = Drawer(memory)

    def run(self, address: int, dwords: int) -> None:
        """Execute the command buffer of `dwords` words at `address`, a multiple of four.

        Raises
        ------
        MachineError
            The remainder of the buffer is dropped.
        """
        for at, command, words in self._commands(address, dwords):
            self.draws.apply(command, words)
            if command.name in ("set_inst_fmt", "inv_inst_cache"):
                self._core.invalidate_program()
            elif command.name == "read_perf_counters" and self.state.counters_enabled:
                # Both counters count clocks, and this model has none.
                self._check_access(BusClient.COUNTERS, words[0] & BASE_MASK, 2)
                self._memory.write(words[0] & BASE_MASK, bytes(8))
            elif command.name == "start_program":
                self._start_program(at)
            elif command.name == "start_draw":
                self._start_draw(at, Start(*words))
            elif command.name == "read_strm":
                self._check_access(BusClient.COUNTERS, words[1] & ~3, 1)
                filled = self.draws.streams[words[0] & STREAMS - 1].filled
                self._memory.write(words[1] & ~3, filled.to_bytes(4, "little"))
            elif command.name in _REPORTS_LOST_WRITES:
                self._report_lost()

    def _commands(self, address: int, dwords: int) -> Iterator[tuple[int, Command, list[int]]]:
        """The commands with their addresses and parameters; what each sets is set when it is given."""
        index = 0
        while index < dwords:
            at = (address + 4 * index) % ADDRESS_SPACE
            self._check_access(BusClient.COMMAND, at, 1)
            word = self._memory.word(at)
            command = self._by_word.get(word)
            if command is None:
                raise MachineError(status=Status.BAD_COMMAND, address=at, word=word)
            if index + command.length > dwords:
                detail = f"{command.name} takes {command.length} words, but the buffer has {dwords - index} left"
                raise MachineError(status=Status.TRUNCATED, address=at, word=word, detail=detail)
            self._check_access(BusClient.COMMAND, at, command.length)
            words = [int(value) for value in self._memory.words(at + 4, command.length - 1)]
            check_parameters(command, at, words, targets=self._targets)
            self.state.apply(command, words)
            yield at, command, words
            index += command.length

    def _report_lost(self) -> None:
        lost, self._memory.lost = self._memory.lost, None
        if lost is not None:
            client, address = lost
            raise MachineError(status=Status.BUS_ERROR, client=client, address=address)

    def _check_access(self, client: BusClient, address: int, words: int) -> None:
        if self._memory.has_error(address, 4 * words):
            raise MachineError(status=Status.BUS_ERROR, client=client, address=address)

    def _start_program(self, at: int) -> None:
        if self.state.domain.is_empty:
            return
        try:
            error = self._walk_domain()
        except MachineError as fault:
            error = fault
        if error is not None:
            raise error.at(at, self._memory.word(at)) from None

    def _start_draw(self, at: int, start: Start) -> None:
        try:
            stages = self._core.stages(self.state, self.draws, start)
            self._drawer.draw(stages, self.draws, start, self.state.domain)
        except MachineError as error:
            raise error.at(at, self._memory.word(at)) from None

    def _walk_domain(self) -> MachineError | None:
        """Run the program over the whole domain; its error."""
        run = self._core.start(self.state)
        for wavefronts in self._wavefronts(self.state.domain):
            run.add(self._tested(wavefronts))
            if self._progress is not None:
                self._progress(wavefronts.inside())
        return run.finish()

    def _wavefronts(self, domain: Domain) -> Iterable[DomainWavefronts]:
        """The domain's wavefronts, some at a time."""
        lanes = self._core.lanes
        return domain.wavefronts(lanes, self._batch_lanes // lanes, self._tiles)

    def _tested(self, wavefronts: DomainWavefronts) -> DomainWavefronts:
        """Conditional execution: of the wavefronts the pixels that the conditional unit lets pass."""
        unit = self.state.conditional
        if unit.location is not ConditionalLocation.PE or unit.passes_all:
            return wavefronts
        (i, j), covered = wavefronts.pairs(), wavefronts.covered()
        lanes = np.flatnonzero(covered)
        value = np.full(lanes.size, self.state.conditional_float)
        passed, stored = unit.decide(self._memory, i[lanes], j[lanes], value)
        unit.store(self._memory, i[lanes][stored], j[lanes][stored], value[stored])
        result = np.zeros(covered.size, bool)
        result[lanes[passed]] = True
        return replace(wavefronts, passed=result)

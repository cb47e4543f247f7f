"""FetchUnit: fetch clauses and exports of several wavefronts leave what each instruction does by itself, in order."""

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from amaranth import Cat, Module, Signal, Value

from ctm.rtl.config import R700
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r700.fetch.unit import FetchUnit
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate
from ctm.tb.r700 import words
from ctm.tb.r700.fetch.looking import mask
from ctm.tb.r700.fetch.models import chosen
from ctm.tb.r700.fetch.moves import (
    AREAS,
    CHANNELS,
    DOMAIN,
    GPRS,
    INPUTS,
    LIMITS,
    MASK,
    OUTPUTS,
    OWN_DWORDS,
    RESULT,
    SHARE_ROWS,
    TEXTURES,
    Drawing,
    Wave,
    World,
    texel,
)  # fmt: skip

WAVES, ROWS, DEADLINE, BUDGET, MOVES, FEW_MOVES = 4, GPRS + 4, 60_000, 1000, fewer(40), 8
_MASKS = "executing", "active", "covered", "valid_mask"


@dataclass(kw_only=True)
class Expected:
    """How a clause or an export ends."""

    budget: int
    status: Status = Status.OK
    client: BusClient = BusClient.COMMAND
    address: int = 0
    uncertain: bool = False  # a fetch has an error response, so registers are undefined


class Bench:
    """The unit with its register file, code, inputs, areas and output registers, all of which take their time."""

    def __init__(self, seed: int, moves: int, *, wavefront: int, rate: int, stall: float) -> None:
        array = replace(R700.array, wavefront=wavefront, rate=rate, threads=WAVES, temporaries=512, lookups=4)
        self.config, self.size, self.stall, self.moves = array, wavefront, stall, moves
        self.lanes = rate or array.lanes
        self.passes = wavefront // self.lanes
        self.slice = min(wavefront, 4 * self.lanes)
        self.unit: Any = FetchUnit(replace(R700, array=array))
        self.given: dict[int, Any] = {}
        unit, registers = self.unit, self.unit.registers
        self.words, self.words_valid = Value.cast(registers.found.words), Value.cast(registers.found.valid)
        self.response_bits = Value.cast(unit.fetches.response.payload)
        ports = registers.read, registers.write, unit.fetches.request, unit.uncached.write, unit.outcome
        self.free = Signal(len(ports) + 2)
        self.top = Module()
        """The unit, with a bit of `free` for each of the receivers, which are ready in cycles of their own."""
        self.top.submodules.unit = self.unit
        takers = [*(port.ready for port in ports), self.unit.code.free, self.unit.constants.free]
        self.top.d.comb += Cat(takers).eq(self.free)
        self.draw = np.random.default_rng(seed)
        bank = random_floats(self.draw, (1024,))
        self.world = World(constants=bank)
        self.areas: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.waves = [self._wave(number) for number in range(WAVES)]
        rows = WAVES * wavefront // self.slice * ROWS
        self.file = np.zeros((rows, CHANNELS, self.slice), RESULT)
        shape = WAVES, OUTPUTS, CHANNELS, wavefront
        self.outputs, self.written = np.zeros(shape, RESULT), np.zeros(shape, bool)
        self.values, self.valued = np.zeros((WAVES, wavefront), RESULT), np.zeros((WAVES, wavefront), bool)
        self.code: dict[int, int] = {}
        self.expected: dict[int, Expected] = {}
        self.outstanding: list[deque[tuple[int, int]]] = [deque() for _ in range(WAVES)]
        self.offered: tuple[int, int] | None = None
        self.error: dict[int, int | None] = {}
        """The input whose responses to a wave slot are errors."""
        self.unclean: list[int] = []
        self.uncached: deque[tuple[int | None, list[tuple[int, int, int]]]] = deque()
        self.reading: int | None = None
        self.code_row = self.constant = self.settling = 0
        self.hits = False
        self.done: list[Status] = []

    def _wave(self, number: int) -> Wave:
        size = self.size
        return Wave(
            number=number, first=number // 2 * 2 * DOMAIN[0] + number % 2 * (size // 2),
            registers=np.zeros((ROWS, CHANNELS, size), RESULT), outputs=np.zeros((OUTPUTS, CHANNELS, size), RESULT),
            written=np.zeros((OUTPUTS, CHANNELS, size), bool), values=np.zeros(size, RESULT),
            valued=np.zeros(size, bool), world=self.world,
        )  # fmt: skip

    def _chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def _refresh(self, wave: Wave) -> None:
        """Registers with coordinates, addresses in areas and in the data share, and other numbers."""
        draw, shape = self.draw, wave.registers.shape
        kinds = draw.integers(4, size=shape)
        floats = draw.uniform(-3, 70, shape).astype(np.float32), draw.uniform(-0.1, 1.1, shape).astype(np.float32)
        ints = draw.integers(0, 12, shape).astype(RESULT)
        anything = random_floats(draw, shape)
        wave.registers[:] = np.choose(kinds, [ints, *(each.view(RESULT) for each in floats), anything])
        self.file[self._rows(wave.number)] = self._as_rows(wave.registers)

    def _rows(self, number: int) -> slice:
        count = self.size // self.slice * ROWS
        return slice(number * count, (number + 1) * count)

    def _as_rows(self, registers: np.ndarray) -> np.ndarray:
        """Registers of one slice after those of another."""
        return np.concatenate(np.split(registers, self.size // self.slice, axis=2))

    def move(self, number: int) -> dict[str, Any]:
        """Draw a clause or an export of a wave slot, do it to the model, and say how the unit is told of it."""
        draw, wave, drawing = self.draw, self.waves[number], Drawing(self.draw, number)
        self._refresh(wave)
        wave.index = int(draw.integers(3))
        wave.masks = {name: draw.random(self.size) < draw.choice([0.1, 0.7, 1]) for name in _MASKS}
        for name in ("executing", "active"):
            wave.masks[name][int(draw.integers(self.size))] = True
        wave.masks["active"] |= wave.masks["executing"]
        begin, expected = number * 200, Expected(budget=BUDGET)
        said: dict[str, Any] = {name: mask(wave.masks[name]) for name in _MASKS}
        said |= {"wave": number, "loop_index": wave.index, "base": self._rows(number).start}
        said |= {"budget": BUDGET, "begin": begin}
        if self._chance(0.35):
            unit, effect = drawing.export()
            effect(wave)
            said |= {"exports": 1, "unit": unit[0] | unit[1] << 32, "textures": 0, "end": begin}
        else:
            count = int(draw.integers(1, 6))
            bad = int(draw.integers(count)) if self._chance(0.1) else count
            said |= {"exports": 0, "unit": 0, "textures": 1, "end": begin + 2 * count}
            self._clause(drawing, wave, begin, count, bad, expected)
        self.expected[number] = expected
        return said

    def _clause(self, drawing: Drawing, wave: Wave, begin: int, count: int, bad: int, expected: Expected) -> None:
        """Instructions up to one that is illegal; an input may have error responses, which stop it."""
        error = int(self.draw.integers(len(INPUTS))) if self._chance(0.15) else None
        self.error[wave.number] = error
        for number in range(count):
            units, effect, fetches = drawing.fetch()
            if number == bad:
                units = words.tex("GET_LOD", 0, 0, TEXTURES)
            address = begin + 2 * number
            for index, (low, high) in enumerate(units):
                self.code[address + index] = low | high << 32
            if number > bad:
                continue
            expected.budget -= 1
            if number < bad:
                effect(wave)
            if expected.status is not Status.OK:
                continue
            if number == bad:
                expected.status, expected.address = Status.ILLEGAL_INSTRUCTION, address
            elif error is not None and fetches == error:
                expected.status, expected.client, expected.address = Status.BUS_ERROR, BusClient.INPUT, address
                expected.uncertain = True

    async def run(self, context: Any) -> None:
        """Give each wave slot one move after the other."""
        unit = self.unit
        await self._describe(context)
        free, waiting, given, cycles, in_flight = list(range(WAVES)), None, 0, 0, 0
        while len(self.done) < self.moves:
            cycles += 1
            assert cycles < DEADLINE, "it does not go on"
            self._clear(context)
            if waiting is None and free and given < self.moves and self._chance(0.5):
                number = free.pop(int(self.draw.integers(len(free))))
                waiting, given = self.move(number), given + 1
                context.set(unit.clause.payload, waiting)
            self._set(context, unit.clause.valid, waiting is not None)
            self._show(context)
            self._take(context)
            if waiting is not None and context.get(unit.clause.ready):
                waiting = None
            if context.get(unit.start.share.valid) and context.get(unit.start.share.ready):
                self.world.share.contents[self.unclean[0]] = 0
                free.append(self.unclean.pop(0))
            if not context.get(unit.outcome.valid):
                in_flight = context.get(unit.registers.in_flight)  # The next outcome is that of this cycle.
            elif context.get(unit.outcome.ready):
                assert not in_flight, "words were not yet in the registers"
                number, is_clean = self._end(context)
                (free if is_clean else self.unclean).append(number)
            await context.tick()
        await context.tick()
        assert not context.get(unit.busy)

    def _clear(self, context: Any) -> None:
        """A wave slot's rows of the data share are cleared before it gets another wavefront."""
        self._set(context, self.unit.start.share.valid, bool(self.unclean))
        self._set(context, self.unit.start.share.payload, self.unclean[0] if self.unclean else 0)

    async def _describe(self, context: Any) -> None:
        inputs = [{"pitch": pitch, "height": height} for pitch, height in INPUTS]
        areas = [{"limits": {"width": a.width, "height": a.height}, "stride": a.stride} for a in AREAS]
        said: dict[str, Any] = {"gprs": GPRS, "watchdog": BUDGET, "texture_base": TEXTURES, "memory": 1, "scratch": 1}
        said |= {"inputs": inputs + [inputs[1]] * (16 - len(inputs)), "areas": areas, "share": SHARE_ROWS}
        said |= {"domain": dict(zip(("width", "height"), DOMAIN, strict=True)), "conditional_from_program": 1}
        context.set(self.unit.program, said)
        context.set(self.unit.constants.loaded, (1 << 64) - 1)
        for wave in self.waves:
            context.set(self.unit.start.first_number, {"valid": 1, "wave": wave.number, "number": wave.first})
            await context.tick()
        context.set(self.unit.start.first_number, {"valid": 0})

    def _end(self, context: Any) -> tuple[int, bool]:
        """Compare the results of a move. Returns its wave slot, and whether its rows of the data share are kept."""
        moved = context.get(self.unit.outcome.payload)
        number, problem, expected = moved.wave, moved.problem, self.expected.pop(moved.wave)
        status = Status(problem.status)
        assert status is expected.status, f"{status} at {problem.address}, not {expected}"
        if status is not Status.OK:
            assert (problem.client, problem.address) == (expected.client, expected.address)
        wave = self.waves[number]
        if not expected.uncertain:
            assert moved.budget == expected.budget
            np.testing.assert_array_equal(self.file[self._rows(number)], self._as_rows(wave.registers))
            np.testing.assert_array_equal(self.written[number], wave.written)
            np.testing.assert_array_equal(np.where(wave.written, self.outputs[number], 0), wave.outputs)
            np.testing.assert_array_equal(self.valued[number], wave.valued)
            np.testing.assert_array_equal(np.where(wave.valued, self.values[number], 0), wave.values)
            for area in range(len(AREAS)):
                assert self._own(wave, area, self.areas) == self._own(wave, area, self.world.areas)
        self.done.append(status)
        return number, not expected.uncertain and self._chance(0.8)

    @staticmethod
    def _own(wave: Wave, number: int, areas: tuple[dict[int, int], dict[int, int]]) -> dict[int, int]:
        """Dwords of an area that this wavefront alone writes."""
        pixels, size = set(wave.numbers()), DOMAIN[0] * DOMAIN[1]
        if number:
            return {at: word for at, word in areas[1].items() if at // CHANNELS % size in pixels}
        return {at: word for at, word in areas[0].items() if at // OWN_DWORDS == wave.number}

    def _show(self, context: Any) -> None:
        """What others give in this cycle."""
        unit = self.unit
        units = [self.code.get(2 * self.code_row + index, 0) for index in range(2)]
        self._set(context, unit.code.found, {"hit": int(self.hits), "units": units})
        if self.reading is None:
            self._set(context, self.words_valid, 0)
        else:
            self._set(context, self.words, int.from_bytes(self.file[self.reading].tobytes(), "little"))
            self._set(context, self.words_valid, 15)
        self._set(context, unit.constants.words, [int(word) for word in self.world.constants[4 * self.constant :][:4]])
        context.set(self.free, mask(self.draw.random(len(self.free)) >= self.stall))
        self._set(context, unit.registers.in_flight, int(self.settling > 0))  # Passes that were taken, for some cycles.
        self.settling -= self.settling > 0
        self._respond(context)

    def _set(self, context: Any, port: Any, value: Any) -> None:
        """Set what has another value: each time the simulator looks at all that follows from it."""
        if self.given.get(id(port)) != value:
            self.given[id(port)] = value
            context.set(port, value)

    def _respond(self, context: Any) -> None:
        """Responses to fetches, the oldest of a wave slot first, and to acquiring writes."""
        unit, response = self.unit, self.unit.fetches.response
        waiting = [number for number in range(WAVES) if self.outstanding[number]]
        if self.offered is None and waiting and not self._chance(0.5):
            self.offered = self.outstanding[int(self.draw.choice(waiting))].popleft()
        self._set(context, response.valid, self.offered is not None)
        if self.offered is not None:
            self._set(context, self.response_bits, self.offered[0])
        done = None
        if self.uncached and not self._chance(0.5):
            done, written = self.uncached.popleft()
            for area, dword, word in written:
                self.areas[area][dword] = word
        self._set(context, unit.uncached.done.valid, done is not None)
        context.set(unit.uncached.done.payload.wave, done or 0)

    def _take(self, context: Any) -> None:
        """What the unit asks for, and writes, in this cycle."""
        unit, constants, registers = self.unit, self.unit.constants, self.unit.registers
        self.code_row = context.get(unit.code.row)
        self.hits = bool(context.get(unit.code.reads) and context.get(unit.code.free)) and not self._chance(0.2)
        self.constant = context.get(constants.row) if context.get(constants.free) else int(self.draw.integers(256))
        self.reading = None
        if context.get(registers.read.valid) and context.get(registers.read.ready):
            read = context.get(registers.read.payload)
            self.reading = read.row if read.exists else None
        if context.get(registers.write.valid) and context.get(registers.write.ready):
            self._write(context.get(registers.write.payload))
        if self.offered is not None and context.get(unit.fetches.response.ready):
            self.offered = None
        self._export(context)
        if context.get(unit.fetches.request.valid) and context.get(unit.fetches.request.ready):
            self._look_up(context)
        write = unit.uncached.write
        if context.get(write.valid) and context.get(write.ready):
            self._write_area(context.get(write.payload))

    def _write(self, write: Any) -> None:
        target = write.target
        if not target.followed:
            self.settling = int(self.draw.integers(1, 4))
        for lane in range(self.lanes):
            for channel in range(CHANNELS):
                select = target.selects[channel]
                if target.exists and target.enable >> lane & 1 and select != MASK:
                    found = np.array(list(write.words[lane]), RESULT)[:, None]
                    self.file[target.row][channel][target.number * self.lanes + lane] = chosen(found, select)[0]

    def _export(self, context: Any) -> None:
        """Output registers: a context is a segment of a wavefront, a beat the lanes that are written at once."""
        outputs = self.unit.outputs
        if not context.get(Value.cast(outputs.enable)) and not context.get(outputs.conditional):
            return
        write = context.get(outputs)
        lanes, at_once = self.config.lanes, len(write.enable)
        number, segment = divmod(write.context, self.size // lanes)
        first = segment * lanes + (write.beat * at_once if at_once < lanes else 0)
        for lane in range(at_once):
            for channel in range(CHANNELS):
                if write.enable[lane] >> channel & 1:
                    at = number, write.targets[channel], channel, first + lane
                    self.outputs[at], self.written[at] = write.words[lane][channel], True
            if write.conditional >> lane & 1:
                self.values[number][first + lane], self.valued[number][first + lane] = write.values[lane], True

    def _look_up(self, context: Any) -> None:
        """Memory reads at the request and responds later; one dword of inputs 16 and 17, which are areas."""
        port, layout = self.unit.fetches, self.unit.fetches.response.payload.shape()
        request = context.get(port.request.payload)
        offsets = {str(name): each.offset for name, each in layout}
        bits = context.get(Value.cast(port.request.payload.tag)) << offsets["tag"]
        assert request.uncached == (request.input >= 16) and request.fetch
        for lane in range(self.lanes):
            found = self.draw.integers(0, 1 << 32, CHANNELS).astype(RESULT)
            if request.fetch >> lane & 1 and request.input >= 16:
                dword = request.y[lane] << 12 | request.x[lane]
                found[0] = self.areas[request.input - 16].get(dword, 0)
            elif request.fetch >> lane & 1:
                columns, rows = LIMITS[request.input]
                assert request.x[lane] < columns and request.y[lane] < rows
                found = texel(request.input, request.x[lane], request.y[lane])
            bits |= int.from_bytes(found.tobytes(), "little") << offsets["words"] + 128 * lane
        number = request.tag.wave
        bits |= (request.input == self.error.get(number)) << offsets["error"]
        self.outstanding[number].append((bits, number))

    def _write_area(self, write: Any) -> None:
        """Writes are done in order, some time later."""
        written = [
            (write.area, write.y[lane] << 12 | write.x[lane], write.values[lane])
            for lane in range(self.lanes)
            if write.mask >> lane & 1
        ]
        self.uncached.append((write.wave if write.acquires else None, written))


MACHINES = [{"wavefront": 16, "rate": 0}, {"wavefront": 16, "rate": 1}, {"wavefront": 4, "rate": 0}]
"""Four passes of one slice; four slices; one pass."""


def check(seed: int, machine: dict[str, int], stall: float, moves: int) -> None:
    """Moves on a machine, with everything around it free in all cycles but a share of `stall`."""
    bench = Bench(seed, moves, stall=stall, **machine)
    simulate(bench.top, bench.run)


def compare() -> None:
    """As many as find every planted mistake."""
    for seed, machine in enumerate(MACHINES):
        check(seed, machine, 0.3, MOVES)


@pytest.mark.slow
def test_moves_leave_what_their_instructions_do() -> None:
    for seed, machine in enumerate(MACHINES):
        check(seed, machine, 0.1, FEW_MOVES)


@pytest.mark.long
@pytest.mark.parametrize("stall", [0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(3, 23))
def test_many_more_moves(seed: int, stall: float) -> None:
    check(seed, MACHINES[seed % len(MACHINES)], stall, 4 * MOVES)

"""Coordinates against the golden model's arithmetic: both kinds mixed, in order, bit for bit."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from amaranth.lib import data

from ctm.rtl.config import PipelineConfig
from ctm.rtl.dpp.memory.coordinates import Coordinates, request_layout, result_layout
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.golden import fp
from ctm.tb.lib.operands import mixed_words
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.lib.words import CORNERS, floats

REQUESTS = 60
WORD, INDEX, LIMIT, PASSENGER = 32, 12, 13, 9
SHALLOW = PipelineConfig(operands=0, alignment=0, addition=0, rounding=0)


def joined(values: list[int], bits: int) -> int:
    return sum(int(value) << bits * index for index, value in enumerate(values))


def scale(coordinate: np.ndarray, factor: np.ndarray | np.float32) -> np.ndarray:
    return fp.multiply(coordinate, factor, zero_times_anything=False)


@dataclass
class Request:
    """Words [coordinate s, t, q; lane], and sizes: limits, and the factors of scaled coordinates."""

    words: np.ndarray
    scaled: bool
    projected: bool
    width: int
    height: int
    pitch: int
    rows: int
    passenger: int

    def packed(self) -> int:
        """The port's payload: lanes, flags, input, passenger, the lowest first."""
        lanes = self.words.shape[1]
        value = joined(self.words.T.ravel().tolist(), WORD)
        flags = self.scaled | self.projected << 1
        sizes = joined([self.width, self.height, self.pitch, self.rows], LIMIT)
        return value | (flags | sizes << 2 | self.passenger << 2 + 4 * LIMIT) << 3 * WORD * lanes

    def result(self) -> int:
        """The golden model's indices, and the passenger."""
        s, t, q = (floats(row) for row in self.words)
        if self.projected:
            reciprocal = fp.rcp(q)
            s, t = scale(s, reciprocal), scale(t, reciprocal)
        if self.scaled:
            s, t = scale(s, np.float32(self.pitch)), scale(t, np.float32(self.rows))
        indices = [*fp.coordinate_index(s, self.width).tolist(), *fp.coordinate_index(t, self.height).tolist()]
        return joined(indices, INDEX) | self.passenger << len(indices) * INDEX


def random_words(generator: np.random.Generator, lanes: int) -> np.ndarray:
    """Corners, any words, and coordinates that hit."""
    shape = (3, lanes)
    near = generator.uniform(-1, 1, shape) * generator.choice([1.5, 40, 5000], shape)
    anything = mixed_words(3 * lanes, int(generator.integers(1 << 30))).reshape(shape)
    choices = [near.astype(np.float32).view(np.uint32), anything, generator.choice(CORNERS, shape)]
    return np.choose(generator.choice([0, 0, 0, 1, 2], shape), choices)


def random_request(generator: np.random.Generator, lanes: int, serial: bool) -> Request:
    width, height = (int(generator.choice([1, 2, 5, 64, 1000, 4095, COORDINATE_LIMIT])) for _ in range(2))
    scaled, projected = (
        ((False, True), (True, False), (True, True))[generator.integers(3)] if serial else (False, False)
    )
    return Request(
        words=random_words(generator, lanes), scaled=scaled, projected=projected, width=width, height=height,
        pitch=int(generator.choice([width, int(generator.integers(1 << LIMIT))])), rows=height,
        passenger=int(generator.integers(1 << PASSENGER)),
    )  # fmt: skip


def test_layouts():
    assert request_layout(4, PASSENGER).size == 12 * WORD + 2 + 4 * LIMIT + PASSENGER
    assert result_layout(4, PASSENGER).size == 8 * INDEX + PASSENGER


def run(
    lanes: int, config: PipelineConfig, requests: list[Request], stalls: tuple[float, float], *, make: Any = Coordinates
) -> int:
    """Send requests, compare the results, and give the cycles from the first request to the last result."""
    unit, generator = make(lanes, data.StructLayout({"tag": PASSENGER}), config), np.random.default_rng(1)
    source, sink = Source(unit.request, generator, stalls[0]), Sink(unit.result, generator, stalls[1])
    source.waiting = [request.packed() for request in requests]
    cycles = 0

    async def testbench(context: Any) -> None:
        nonlocal cycles
        while len(sink.received) < len(requests):
            await cycle(context, [source, sink])
            cycles += 1
            assert cycles < 100 * len(requests) * lanes
        for _ in range(50):
            await cycle(context, [source, sink])

    simulate(unit, testbench)
    assert len(sink.received) == len(requests)
    for number, (found, request) in enumerate(zip(sink.received, requests, strict=True)):
        assert found == request.result(), (number, request)
    return cycles


@pytest.mark.slow
@pytest.mark.parametrize("sink_stall", STALLS)
@pytest.mark.parametrize(("lanes", "config"), [(4, PipelineConfig()), (4, SHALLOW), (8, PipelineConfig())])
def test_both_kinds_mixed(lanes, config, sink_stall):
    generator = np.random.default_rng(lanes)
    kinds = [bool(kind) for _ in range(REQUESTS // 6) for kind in [generator.integers(2)] * int(generator.integers(13))]
    requests = [random_request(generator, lanes, kind) for kind in kinds[:REQUESTS]]
    run(lanes, config, requests, (0.2, sink_stall))


@pytest.mark.parametrize("sink_stall", STALLS)
@pytest.mark.parametrize(
    ("lanes", "config"),
    [(1, PipelineConfig()), (2, SHALLOW), (1, PipelineConfig(result=0)), (1, PipelineConfig(result=0, rounding=0))],
)
def test_both_kinds_mixed_with_one_multiplier(lanes, config, sink_stall):
    check_with_one_multiplier(Coordinates, lanes, config, sink_stall)


def check_with_one_multiplier(make: Any, lanes: int, config: PipelineConfig, sink_stall: float) -> None:
    """Raise `AssertionError` if the indices of random requests are not the golden model's."""
    generator = np.random.default_rng(lanes)
    kinds = [bool(kind) for _ in range(REQUESTS // 6) for kind in [generator.integers(2)] * int(generator.integers(13))]
    requests = [random_request(generator, lanes, kind) for kind in kinds[:REQUESTS]]
    run(lanes, config, requests, (0.2, sink_stall), make=partial(make, shares_multiplier=True))


def test_one_multiplier_has_its_products_shares_multiplier():
    generator, lanes, config = np.random.default_rng(1), 2, PipelineConfig()
    requests = [random_request(generator, lanes, True) for _ in range(30)]
    cycles = run(lanes, config, requests, (0, 0), make=partial(Coordinates, shares_multiplier=True))
    assert cycles <= 4 * lanes * len(requests) + 3 * config.latency + 10


FAULTS = {
    "coordinates begin in any phase": ("coordinates", "begins.eq(wanted & (phase == 0))", "begins.eq(wanted & ~goes)"),
    "y is x": ("coordinates", "(x, index)), texels", "(x, x)), texels"),
    "the limit is always that of texels": ("coordinates", "Mux(other[0], other[2], limit)", "limit"),
    "a quotient comes too early": ("scaling", "self._waits, name=", "self._waits - 1, name="),
    "sizes do not stay": ("scaling", "held=self.CYCLES", "held=self.CYCLES + 1"),
    "s and t are exchanged": ("scaling", "step[0], step[1]", "~step[0], step[1]"),
    "limits are exchanged": ("scaling", "(step - once)[0]", "~(step - once)[0]"),
    "nothing is divided": ("scaling", "Mux(projected, reciprocal.result, ONE)", "ONE"),
    "nothing is scaled": ("scaling", "Mux(at_scaling[-1], from_integer(m, size), ONE)", "ONE"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name):
    module, old, new = FAULTS[name]
    fault = Fault(f"rtl.dpp.memory.{module}", old, new)
    with planted(fault, "ctm.rtl.dpp.memory.coordinates") as faulty, pytest.raises(AssertionError):
        check_with_one_multiplier(faulty.Coordinates, 1, PipelineConfig(), 0.3)


@pytest.mark.slow
def test_texels_take_a_cycle_each_and_others_a_cycle_for_each_lane():
    generator, lanes, config = np.random.default_rng(1), 4, PipelineConfig()
    for serial, each, latency in ((False, 1, 0), (True, lanes, 3 * config.latency)):
        requests = [random_request(generator, lanes, serial) for _ in range(30)]
        assert run(lanes, config, requests, (0, 0)) <= each * len(requests) + latency + 4

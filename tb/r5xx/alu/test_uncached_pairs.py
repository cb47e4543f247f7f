"""UncachedPairs before UncachedWrites: pairs, masks and order of what OUTPUT instructions write past the caches."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from amaranth import Module, Value
from amaranth.lib import wiring

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.memory.uncached_writes import UncachedWrites
from ctm.rtl.isa.limits import CHANNELS, QUAD
from ctm.rtl.isa.r5xx.opcodes import UmrtTarget
from ctm.rtl.isa.word import unpack
from ctm.rtl.r5xx.alu.uncached_pairs import UncachedPairs
from ctm.sim.golden import fp
from ctm.tb.lib.streams import STALLS, Sink, simulate
from ctm.tb.lib.words import CORNERS, floats

RESULTS = 150
LATENCY = 12
"""Cycles from an announcement to its result, as many as one likes."""


def joined(values: list[int], bits: int) -> int:
    return sum(int(value) << bits * index for index, value in enumerate(values))


def random_result(generator: np.random.Generator, lanes: int) -> dict[str, Any]:
    """Pairs near the limits and elsewhere; lanes that write are eligible."""
    near = generator.uniform(-2, 40, (lanes, CHANNELS)).astype(np.float32).view(np.uint32)
    words = np.where(generator.random((lanes, CHANNELS)) < 0.2, generator.choice(CORNERS, (lanes, CHANNELS)), near)
    eligible = generator.random(lanes) < generator.choice([0, 0.3, 0.8])
    mask = eligible & (generator.random(lanes) < 0.7)
    target = UmrtTarget(int(generator.integers(4)))
    return {"wave": int(generator.integers(4)), "target": target, "words": words, "eligible": eligible, "mask": mask}


def leaders(eligible: np.ndarray) -> np.ndarray:
    """Of each lane the lowest eligible lane of its quad; of quads without one, which write nothing, any."""
    lanes = np.arange(eligible.size)
    return np.array([next((other for other in range(lane - lane % QUAD, lane - lane % QUAD + QUAD) if eligible[other]),
                          lane) for lane in lanes])  # fmt: skip


def expected(result: dict[str, Any], width: int, height: int) -> dict[str, Any] | None:
    """The write; x, y and value of the lanes in its mask. None if nothing is sent."""
    shared = result["target"] in (UmrtTarget.SAME_IDX, UmrtTarget.SAME_IDX_ACQUIRE)
    acquires = result["target"] in (UmrtTarget.SAME_IDX_ACQUIRE, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE)
    lanes = leaders(result["eligible"]) if shared else np.arange(result["mask"].size)
    with np.errstate(invalid="ignore"):
        x, y = (np.floor(fp.flush_denormals(floats(result["words"][lanes, channel].copy()))) for channel in (1, 2))
    mask = result["mask"] & (x >= 0) & (x < width) & (y >= 0) & (y < height)
    if not mask.any() and not acquires:
        return None
    pairs = [(lane, int(x[lane]), int(y[lane]), int(result["words"][lane, 0])) for lane in np.flatnonzero(mask)]
    return {"wave": result["wave"], "acquires": int(acquires), "lanes": pairs}


def found(layout: Any, payload: int, lanes: int) -> dict[str, Any]:
    write = unpack(layout, payload)
    names, bits = ("x", "y", "values"), (12, 12, 32)
    pairs = [(lane, *(write[name] >> size * lane & (1 << size) - 1 for name, size in zip(names, bits, strict=True)))
             for lane in range(lanes) if write["mask"] >> lane & 1]  # fmt: skip
    return {"wave": write["wave"], "acquires": write["acquires"], "lanes": pairs}


class PairsAndWrites(wiring.Component):
    """Both units as a core has them."""

    def __init__(self, config: ArrayConfig) -> None:
        self._pairs, self._writes = UncachedPairs(config), UncachedWrites(config)
        pairs, writes = self._pairs.signature.members, self._writes.signature.members
        names = ("announced", "ready", "empty", "write")
        super().__init__(
            {"limits": pairs["limits"], "result": pairs["result"], **{name: writes[name] for name in names}}
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.pairs, m.submodules.writes = pairs, writes = self._pairs, self._writes
        wiring.connect(m, writes.write, wiring.flipped(self.write))
        m.d.comb += [
            pairs.limits.eq(self.limits),
            pairs.result.eq(self.result),
            writes.result.eq(pairs.write),
            writes.announced.eq(self.announced),
            self.ready.eq(writes.ready),
            self.empty.eq(writes.empty),
        ]
        return m


class Pipeline:
    """The ALU port: an instruction is announced a cycle after its issue, and its result comes later."""

    def __init__(self, unit: PairsAndWrites, lanes: int) -> None:
        self._unit, self._lanes, self._generator = unit, lanes, np.random.default_rng(lanes)
        self._stages: deque[dict[str, Any] | None] = deque([None] * (LATENCY + 1))
        self.results: list[dict[str, Any]] = []
        self.waited = 0

    @property
    def announced(self) -> bool:
        """Whether a result is still in flight."""
        return any(list(self._stages)[1:])

    def drive(self, context: Any) -> None:
        """One cycle: the stages are [issued in the last cycle, ..., at its end]."""
        ready = context.get(self._unit.ready)
        issues = ready and len(self.results) < RESULTS and self._generator.random() < 0.8
        self.waited += not ready
        issued = [random_result(self._generator, self._lanes)] if issues else []
        self._stages.appendleft(issued[0] if issued else None)
        self.results += issued
        context.set(self._unit.announced, self._stages[1] is not None)
        result = self._stages.pop()
        context.set(self._unit.result.valid, result is not None)
        if result is not None:
            port, masks = self._unit.result, ("mask", "eligible")
            context.set(port.wave, result["wave"])
            context.set(Value.cast(port.target), result["target"].value)
            context.set(Value.cast(port.words), joined(result["words"].ravel().tolist(), 32))
            for name in masks:
                context.set(port[name], joined(result[name].tolist(), 1))


@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize(("lanes", "width", "height"), [(4, 30, 20), (8, 4096, 1), (4, 1, 4096), (4, 0, 30)])
def test_random_results(lanes, width, height, stall):
    unit = PairsAndWrites(ArrayConfig(lanes=lanes, threads=4, temporaries=128))
    pipeline, sink = Pipeline(unit, lanes), Sink(unit.write, np.random.default_rng(1), stall)
    layout = unit.write.payload.shape()

    def drained() -> bool:
        return len(pipeline.results) == RESULTS and not pipeline.announced

    async def testbench(context: Any) -> None:
        context.set(unit.limits, {"width": width, "height": height})
        idle = cycles = 0
        while idle < 50:
            pipeline.drive(context)
            sink.drive(context)
            assert not (context.get(unit.empty) and context.get(unit.write.valid))
            sink.finish(context)
            await context.tick()
            idle = idle + 1 if drained() and context.get(unit.empty) else 0
            # What was announced before the last cycle is known.
            assert not (pipeline.announced and context.get(unit.empty))
            cycles += 1
            assert cycles < 20 * RESULTS

    simulate(unit, testbench)
    writes = [write for write in (expected(result, width, height) for result in pipeline.results) if write]
    assert [found(layout, payload, lanes) for payload in sink.received] == writes
    assert len(writes) < RESULTS
    assert stall < 0.5 or not width or pipeline.waited > 10

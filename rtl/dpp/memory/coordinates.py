"""From coordinates of a fetch to pairs of indices.

Source: CTM Guide pp. 6, 32-33; docs/design/r5xx-core.md has the order of the roundings.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import COMBINATIONAL, PipelineConfig
from ctm.rtl.dpp.memory.scaling import COORDINATES, ScaledCoordinates, SequentialScaling
from ctm.rtl.dpp.program import INPUT
from ctm.rtl.fp.conversion import CoordinateIndex
from ctm.rtl.isa.limits import COORDINATE_BITS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.pipeline import delay_valid

_RESULTS = 16
"""Results that distributed memory holds in any case, and more than there are in units with one multiplier."""


def request_layout(lanes: int, passenger: ShapeLike) -> data.StructLayout:
    """Coordinates of all lanes: texels unless `scaled`, divided by q first if `projected`. `passenger` is passed on."""
    return data.StructLayout(
        {
            "lanes": data.ArrayLayout(COORDINATES, lanes),
            "scaled": 1,
            "projected": 1,
            "input": INPUT,
            "passenger": passenger,
        }
    )


def result_layout(lanes: int, passenger: ShapeLike) -> data.StructLayout:
    """Clamped indices of all lanes."""
    indices = data.ArrayLayout(COORDINATE_BITS, lanes)
    return data.StructLayout({"x": indices, "y": indices, "passenger": passenger})


class Coordinates(wiring.Component):
    """Gives the indices of all lanes' elements.

    A fetch whose coordinates are texels takes one cycle. Others are computed lane by lane in shared, pipelined units:
    `lanes` cycles each. The two kinds wait for each other. Results come in the order of the requests.

    With `shares_multiplier` there is one multiplier for all products of a lane, which takes
    `SequentialScaling.CYCLES` cycles for each. Floors of products are then taken by a unit that texels have, too.

    Members
    -------
    request : ``In(stream.Signature(request_layout(lanes, passenger)))``
    result : ``Out(stream.Signature(result_layout(lanes, passenger)))``
    """

    def __init__(
        self, lanes: int, passenger: ShapeLike, config: PipelineConfig, *, shares_multiplier: bool = False
    ) -> None:
        self._lanes, self._shares_multiplier = lanes, shares_multiplier
        self._scaling = SequentialScaling(config) if shares_multiplier else ScaledCoordinates(config)
        self._request, self._result = request_layout(lanes, passenger), result_layout(lanes, passenger)
        super().__init__(
            {"request": In(stream.Signature(self._request)), "result": Out(stream.Signature(self._result))}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, lanes = self.request.payload, self._lanes
        scaling = self._scaling
        m.submodules.scaling = units = GatedStateless(scaling, scaling.latency)
        depth = _RESULTS if self._shares_multiplier else scaling.latency // lanes + 4
        m.submodules.results = results = SyncFIFOBuffered(width=self._result.size, depth=depth)
        m.submodules.passengers = passengers = SyncFIFOBuffered(width=request.passenger.shape().size, depth=depth)
        m.d.comb += [
            Value.cast(self.result.payload).eq(results.r_data),
            self.result.valid.eq(results.r_rdy),
            results.r_en.eq(self.result.ready),
        ]

        serial = request.scaled | request.projected
        lane, started = Signal(range(max(2, lanes))), Signal(range(results.depth + 1))
        has_space = results.level + started < results.depth
        begins = steps = wanted = self.request.valid & serial & (has_space | lane.any())
        last = lane == lanes - 1
        direct = self.request.valid & ~serial & ~started.any() & results.w_rdy
        if self._shares_multiplier:
            begins, steps = self._interval(m, units, wanted)
            wanted = begins | steps
        m.d.comb += [
            self.request.ready.eq(direct | (steps & last)),
            passengers.w_en.eq(steps & last),
            passengers.w_data.eq(request.passenger),
        ]
        with m.If(steps):
            m.d.sync += lane.eq(Mux(last, 0, lane + 1))

        m.d.comb += [
            units.wanted.eq(wanted),
            units.coordinates.eq(request.lanes[lane]),
            *(getattr(units, name).eq(request[name]) for name in ("scaled", "projected", "input")),
        ]
        arrived = delay_valid(m, Cat(begins, begins & last), scaling.latency)[-1]
        if self._shares_multiplier:
            arrives_last, whole, texels = self._floors_shared(m, units, arrived, started.any())
        else:
            arrives_last, whole = self._gathered(m, arrived, (units.x, units.y))
            texels = self._floors(m)
        m.d.sync += started.eq(started + (begins & (lane == 0)) - arrives_last)
        m.d.comb += [
            passengers.r_en.eq(arrives_last),
            results.w_en.eq(direct | arrives_last),
            results.w_data.eq(Mux(arrives_last, Cat(*whole, passengers.r_data), Cat(*texels, request.passenger))),
        ]
        return m

    def _interval(self, m: Module, units: Any, wanted: Value) -> tuple[Value, Value]:
        """Where a lane takes several cycles: whether it begins, and whether it ends. It begins with phase 0."""
        phase, goes = Signal(range(SequentialScaling.CYCLES), name="phase"), Signal(name="goes")
        begins, ends = Signal(name="begins"), Signal(name="ends")
        m.d.sync += phase.eq(phase + 1)
        with m.If(phase == 0):
            m.d.sync += goes.eq(wanted)
        m.d.comb += [
            begins.eq(wanted & (phase == 0)),
            ends.eq(goes & (phase == SequentialScaling.CYCLES - 1)),
            units.phase.eq(phase),
            units.begins.eq(begins),
        ]
        return begins, ends

    def _gathered(self, m: Module, arrived: Value, indices: tuple[Value, Value]) -> tuple[Value, list[Value]]:
        """Whether a request's last lane is there, and x and y of all its lanes."""
        arrives, arrives_last = arrived
        gathered = [Signal(data.ArrayLayout(COORDINATE_BITS, self._lanes), name=f"gathered_{axis}") for axis in "xy"]
        whole: list[Value] = [
            Cat(Value.cast(held)[COORDINATE_BITS:], index) for held, index in zip(gathered, indices, strict=True)
        ]
        with m.If(arrives):
            m.d.sync += [Value.cast(held).eq(value) for held, value in zip(gathered, whole, strict=True)]
        return arrives_last, whole

    def _floors_shared(
        self, m: Module, units: Any, arrived: Value, is_scaled: Value
    ) -> tuple[Value, list[Value], list[Value]]:
        """As `_gathered`, where y comes a cycle after x, and as `_floors`: lane 0's s has the unit of both."""
        texels = self._floors(m, (is_scaled, units.word, units.limit))
        index = texels[0][:COORDINATE_BITS]
        x = Signal(COORDINATE_BITS, name="x", reset_less=True)
        m.d.sync += x.eq(index)
        return *self._gathered(m, delay_valid(m, arrived, 1)[-1], (x, index)), texels

    def _floors(self, m: Module, other: tuple[Value, Value, Value] | None = None) -> list[Value]:
        """Indices of coordinates in texels, x of all lanes and y of all lanes.

        For lane 0's x there may be an `other` word and its limit, and whether it is that one.
        """
        found: list[Value] = []
        request = self.request.payload
        for coordinate, limit in (("s", request.input.limits.width), ("t", request.input.limits.height)):
            indices = []
            for lane in range(self._lanes):
                word, own = request.lanes[lane][coordinate], limit
                if other is not None and not lane and coordinate == "s":
                    word, own = Mux(other[0], other[1], word), Mux(other[0], other[2], limit)
                indices.append(self._index(m, f"index_{coordinate}_{lane}", word, own))
            found.append(Cat(indices))
        return found

    def _index(self, m: Module, name: str, word: Value, limit: Value) -> Value:
        m.submodules[name] = unit = CoordinateIndex(COMBINATIONAL)
        m.d.comb += [unit.word.eq(word), unit.limit.eq(limit)]
        return Value.cast(unit.index)

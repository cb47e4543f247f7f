"""From coordinates of a fetch to pairs of indices.

Source: CTM Guide pp. 6, 32-33; docs/design/r5xx-core.md has the order of the roundings.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import COMBINATIONAL, PipelineConfig
from ctm.rtl.dpp.memory.scaling import COORDINATES, ScaledCoordinates
from ctm.rtl.dpp.program import INPUT
from ctm.rtl.fp.conversion import CoordinateIndex
from ctm.rtl.isa.limits import COORDINATE_BITS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.pipeline import delay_valid


def request_layout(lanes: int, passenger: Any) -> data.StructLayout:
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


def result_layout(lanes: int, passenger: Any) -> data.StructLayout:
    """Clamped indices of all lanes."""
    indices = data.ArrayLayout(COORDINATE_BITS, lanes)
    return data.StructLayout({"x": indices, "y": indices, "passenger": passenger})


class Coordinates(wiring.Component):
    """Gives the indices of all lanes' elements.

    A fetch whose coordinates are texels takes one cycle. Others are computed lane by lane in shared, pipelined units:
    `lanes` cycles each. The two kinds wait for each other. Results come in the order of the requests.

    Members
    -------
    request : ``In(stream.Signature(request_layout(lanes, passenger)))``
    result : ``Out(stream.Signature(result_layout(lanes, passenger)))``
    """

    def __init__(self, lanes: int, passenger: Any, config: PipelineConfig) -> None:
        self._lanes, self._config = lanes, config
        self._request, self._result = request_layout(lanes, passenger), result_layout(lanes, passenger)
        super().__init__(
            {"request": In(stream.Signature(self._request)), "result": Out(stream.Signature(self._result))}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, lanes = self.request.payload, self._lanes
        scaling = ScaledCoordinates(self._config)
        m.submodules.scaling = units = GatedStateless(scaling, scaling.latency)
        in_units = scaling.latency // lanes + 2
        m.submodules.results = results = SyncFIFOBuffered(width=self._result.size, depth=in_units + 2)
        m.submodules.passengers = passengers = SyncFIFOBuffered(
            width=request.passenger.shape().size, depth=in_units + 2
        )
        m.d.comb += [
            Value.cast(self.result.payload).eq(results.r_data),
            self.result.valid.eq(results.r_rdy),
            results.r_en.eq(self.result.ready),
        ]

        serial = request.scaled | request.projected
        lane, started = Signal(range(max(2, lanes))), Signal(range(results.depth + 1))
        has_space = results.level + started < results.depth
        steps = self.request.valid & serial & (has_space | lane.any())
        last = lane == lanes - 1
        direct = self.request.valid & ~serial & ~started.any() & results.w_rdy
        m.d.comb += [
            self.request.ready.eq(direct | (steps & last)),
            passengers.w_en.eq(steps & last),
            passengers.w_data.eq(request.passenger),
        ]
        with m.If(steps):
            m.d.sync += lane.eq(Mux(last, 0, lane + 1))

        m.d.comb += [
            units.wanted.eq(steps),
            units.coordinates.eq(request.lanes[lane]),
            *(getattr(units, name).eq(request[name]) for name in ("scaled", "projected", "input")),
        ]
        arrives, arrives_last = delay_valid(m, Cat(steps, steps & last), scaling.latency)[-1]
        gathered = [Signal(data.ArrayLayout(COORDINATE_BITS, lanes), name=f"gathered_{axis}") for axis in "xy"]
        whole = [
            Cat(Value.cast(held)[COORDINATE_BITS:], index)
            for held, index in zip(gathered, (units.x, units.y), strict=True)
        ]
        with m.If(arrives):
            m.d.sync += [Value.cast(held).eq(value) for held, value in zip(gathered, whole, strict=True)]
        m.d.sync += started.eq(started + (steps & (lane == 0)) - arrives_last)
        m.d.comb += [
            passengers.r_en.eq(arrives_last),
            results.w_en.eq(direct | arrives_last),
            results.w_data.eq(
                Mux(
                    arrives_last,
                    Cat(*whole, passengers.r_data),
                    Cat(*self._direct(m, request), request.passenger),
                )
            ),
        ]
        return m

    def _index(self, m: Module, name: str, word: Value, limit: Value) -> Value:
        m.submodules[name] = unit = CoordinateIndex(COMBINATIONAL)
        m.d.comb += [unit.word.eq(word), unit.limit.eq(limit)]
        return Value.cast(unit.index)

    def _direct(self, m: Module, request: data.View) -> list[Value]:
        """Indices of coordinates in texels, x of all lanes and y of all lanes."""
        limits = request.input.limits
        return [
            Cat(
                self._index(m, f"index_{coordinate}_{lane}", request.lanes[lane][coordinate], limit)
                for lane in range(self._lanes)
            )
            for coordinate, limit in (("s", limits.width), ("t", limits.height))
        ]

"""The observer of an R5xx core."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.watch import Wait, watch_members
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r5xx.core import Core
from ctm.rtl.r5xx.shapes import SHAPES, Unit


class CoreWatch(wiring.Component):
    """See `watch_members`; every output is of the same cycle as what it is about."""

    def __init__(self, config: ArrayConfig, core: Core) -> None:
        self._config, self._core = config, core
        super().__init__(watch_members(config, SHAPES))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        issuing = self._issues(m)
        self._wave_slots(m, issuing)
        wavefront, scheduler = self._core.wavefront, self._core.generic.scheduler
        own: Any = self
        recorded, coordinates = self._core.own.texture.record, self._core.generic.coordinates
        m.d.comb += [
            own.fetches.eq(coordinates.request.valid | coordinates.result.valid),
            own.fetch_valid.eq(recorded.valid),
            own.fetch_wave.eq(recorded.tag.wave),
            own.fetch_entry.eq(recorded.tag.entry),
            own.fetch_pc.eq(recorded.record.pc),
            own.take_valid.eq(scheduler.admission.admit),
            own.take_wave.eq(scheduler.admission.context[:-1]),
            *(getattr(own, f"take_{name}").eq(wavefront.payload[name]) for name in ("i", "j", "covered")),
        ]
        return m

    def _issues(self, m: Module) -> Value:
        """The instructions that count as issued. Gives the wave slots to which the scheduler issues in this cycle."""
        generic, own = self._core.generic, self._core.own
        ports = generic.scheduler.ports
        # ALU and flow control count a cycle later than they read the wavefront's state.
        alu, flow = (
            delay(m, own.alu.wavefront.state, name="alu_wavefront"), delay(m, own.flow.wavefront, name="flow_wavefront")
        )  # fmt: skip
        counted = {
            Unit.ALU: (own.alu.started, alu, alu.active, 2),
            Unit.TEXTURE: (own.texture.asked.valid, own.texture.wavefront, own.texture.wavefront.active, 1),
            Unit.FLOW: (own.flow.started, flow, own.flow.active, 2),
        }
        for unit, (counts, wavefront, active, cycles) in counted.items():
            issue = delay(m, ports[unit.value].issue, cycles, name=f"issue_{unit.name.lower()}")
            outputs = {
                "valid": counts, "wave": issue.wave, "pc": issue.pc, "active": active,
                "present": wavefront.covered & wavefront.valid_mask,
            }  # fmt: skip
            for name, value in outputs.items():
                m.d.comb += getattr(self, f"issue_{unit.value}_{name}").eq(value)
        issuing = Signal(self._config.threads)
        for port in ports:
            with m.If(port.issue.valid):
                m.d.comb += issuing.bit_select(port.issue.wave, 1).eq(1)
        return issuing

    def _wave_slots(self, m: Module, issuing: Value) -> None:
        scheduler = self._core.generic.scheduler
        waves, held = scheduler.wave_slots, scheduler.blocked_wave_slots()
        lacking: list[Value] = [
            needs & ~available.replicate(self._config.threads)
            for needs, available, resource in zip(
                waves.needs, scheduler.available.resources, SHAPES.resources, strict=True
            )
            if resource.is_request
        ]
        full = ~scheduler.available.ready[Unit.TEXTURE.value].replicate(self._config.threads)
        requests = Signal(self._config.threads)
        m.d.comb += requests.eq(Cat(lacking[0]) | waves.units[Unit.TEXTURE.value] & full)
        causes = (
            (~waves.occupied, Wait.FREE),
            (waves.finished, Wait.OUTPUT),
            (issuing, Wait.ISSUE),
            (waves.fetching, Wait.CODE),
            (waves.waiting, Wait.CONSTANT),
            (waves.ready & held, Wait.FETCH),
            (waves.ready & requests, Wait.REQUEST),
            (waves.ready, Wait.PORT),
            (waves.running, Wait.RESULT),
        )
        for wave_slot in range(self._config.threads):
            found: Value = Const(Wait.START.value, Wait.as_shape())
            for applies, cause in reversed(causes):
                found = Mux(applies[wave_slot], Const(cause.value, Wait.as_shape()), found)
            m.d.comb += Value.cast(getattr(self, f"wave_slot_{wave_slot}")).eq(found)

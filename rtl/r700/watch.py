"""The observer of an R700 core."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.watch import Wait, watch_members
from ctm.rtl.r700.alu.clauses import contexts_of
from ctm.rtl.r700.core import Core
from ctm.rtl.r700.shapes import SHAPES, Unit


class Location(enum.Enum, shape=3):
    """The unit that has a wavefront."""

    NONE = 0
    START = 1
    FLOW = 2
    ALU = 3
    FETCH = 4
    END = 5


class CoreWatch(wiring.Component):
    """See `watch_members`; every output is of the same cycle as what it is about."""

    def __init__(self, config: ArrayConfig, core: Core) -> None:
        self._config, self._units = config, core.units
        threads = config.threads
        self._locations = [Signal(Location, name=f"location_{number}") for number in range(threads)]
        self._covered, self._valid = (
            [Signal(config.wavefront_lanes, name=f"{name}_{number}") for number in range(threads)]
            for name in ("covered", "valid")
        )
        self._begun = Signal(threads)
        super().__init__(watch_members(config, SHAPES))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        units, own = self._units, self
        self._follow(m)
        issuing = self._issues(m)
        for number in range(self._config.threads):
            self._wave_slot(m, number, issuing)
        take = units.start.wavefront
        shown: Any = own
        request = units.fetch.fetches.request
        m.d.comb += [
            shown.fetch_valid.eq(request.valid & request.ready),
            shown.fetch_wave.eq(request.payload.tag.wave),
            shown.fetch_entry.eq(request.payload.tag.entry),
            shown.fetch_pc.eq(units.fetch.sending),
            shown.take_valid.eq(take.valid),
            shown.take_wave.eq(take.wave),
            *(getattr(shown, f"take_{name}").eq(take.wavefront[name]) for name in ("i", "j", "covered")),
        ]
        return m

    def _follow(self, m: Module) -> None:
        """Where each wavefront is, and its pixels that are covered and valid."""
        units = self._units
        flow, alu, fetch, end = units.flow, units.alu, units.fetch, units.end
        moves: tuple[tuple[Value, Value, Location], ...] = (
            (units.start.wavefront.valid, units.start.wavefront.wave, Location.START),
            *(
                (stream.valid & stream.ready, stream.payload.wave, location)
                for stream, location in (
                    (units.start.start, Location.FLOW), (flow.alu_clause, Location.ALU), (alu.outcome, Location.FLOW),
                    (flow.fetch_clause, Location.FETCH), (fetch.outcome, Location.FLOW), (flow.end, Location.END),
                )
            ),
            (end.free.valid, end.free.wave, Location.NONE),
        )  # fmt: skip
        instruction, result, take = flow.trace.instruction, alu.trace.result, units.start.wavefront
        for number, (location, covered, valid) in enumerate(
            zip(self._locations, self._covered, self._valid, strict=True)
        ):
            for happens, wave, target in moves:
                with m.If(happens & (wave == number)):
                    m.d.sync += location.eq(target)
            with m.If(fetch.busy & (fetch.trace.wave == number)):
                m.d.sync += self._begun[number].eq(1)
            with m.If(location != Location.FETCH):
                m.d.sync += self._begun[number].eq(0)
            with m.If(instruction.valid & (instruction.wave == number)):
                m.d.sync += valid.eq(instruction.state.valid_mask)
            with m.If(result.valid & (result.wave == number)):
                m.d.sync += valid.eq(result.masks.valid_mask)
            with m.If(take.valid & (take.wave == number)):
                m.d.sync += [covered.eq(take.wavefront.covered), valid.eq(~0)]

    def _issues(self, m: Module) -> Value:
        """The instructions that count as issued. Gives the wave slots of this cycle's."""
        units, issuing = self._units, Signal(self._config.threads)
        flow, alu, fetch = units.flow, units.alu, units.fetch
        counted: dict[Unit, tuple[Any, Any, Value]] = {
            Unit.FLOW: (flow.issued, flow.trace.instruction, flow.trace.instruction.state.pc),
            Unit.ALU: (alu.issued, alu.trace.issue, alu.trace.issue.address),
            Unit.FETCH: (fetch.issued, fetch.trace, fetch.trace.address),
        }
        covered, valid = (Cat(*masks) for masks in (self._covered, self._valid))
        for unit, (issued, event, pc) in counted.items():
            present = (covered & valid).word_select(event.wave, self._config.wavefront_lanes)
            outputs = {
                "valid": issued.valid, "wave": event.wave, "pc": pc, "active": issued.active, "present": present,
            }  # fmt: skip
            for name, value in outputs.items():
                m.d.comb += getattr(self, f"issue_{unit.value}_{name}").eq(value)
            with m.If(event.valid):
                m.d.comb += issuing.bit_select(event.wave, 1).eq(1)
        return issuing

    def _wave_slot(self, m: Module, number: int, issuing: Value) -> None:
        """What a wave slot does."""
        location, shown = self._locations[number], Value.cast(getattr(self, f"wave_slot_{number}"))

        def show(*causes: tuple[Value, Wait], otherwise: Wait) -> None:
            found: Value = Const(otherwise.value, Wait.as_shape())
            for applies, cause in reversed(causes):
                found = Mux(applies, Const(cause.value, Wait.as_shape()), found)
            m.d.comb += shown.eq(found)

        units = self._units
        issues, loading = (issuing[number], Wait.ISSUE), (units.loader.busy, Wait.CONSTANT)
        with m.Switch(Value.cast(location)):
            with m.Case(Location.START.value):
                show(otherwise=Wait.START)
            with m.Case(Location.FLOW.value):
                others = ~units.flow.busy | (units.flow.trace.instruction.wave != number)
                code = units.code.busy & units.flow.code.reads
                show(issues, (others, Wait.PORT), (code, Wait.CODE), loading, otherwise=Wait.RESULT)
            with m.Case(Location.ALU.value):
                states = self._clause(m, number)
                show(
                    issues, (states["waiting"], Wait.CONSTANT), (states["ended"], Wait.PORT),
                    (states["recent"], Wait.RESULT), (states["unread"] & units.code.busy, Wait.CODE),
                    (states["unread"] | states["ready"] | ~states["occupied"], Wait.PORT), otherwise=Wait.RESULT,
                )  # fmt: skip
            with m.Case(Location.FETCH.value):
                fetch = units.fetch
                here = fetch.busy & (fetch.trace.wave == number)
                blocked = (
                    here & Cat(each.valid & ~each.ready for each in (fetch.fetches.request, fetch.uncached.write)).any()
                )
                code = here & fetch.code.reads & units.code.busy
                show(
                    issues, (~self._begun[number] & ~here, Wait.PORT), (blocked, Wait.REQUEST), (code, Wait.CODE),
                    otherwise=Wait.FETCH,
                )  # fmt: skip
            with m.Case(Location.END.value):
                show(otherwise=Wait.OUTPUT)

    def _clause(self, m: Module, number: int) -> dict[str, Value]:
        """The state of the context that has the wavefront's clause; no bit is set while the clause waits for one."""
        alu, count = self._units.alu, contexts_of(self._config)
        own = Signal(count, name=f"own_{number}")
        m.d.comb += [
            own[context].eq(
                alu.flags["occupied"][context]
                & (alu.tables.clauses.read(m, Const(context, range(count))).wave == number)
            )
            for context in range(count)
        ]
        recent: Value = Const(0, count)
        for age in alu.recent:
            recent = recent | age
        names = ("occupied", "waiting", "ended", "unread", "ready")
        return {name: (alu.flags[name] & own).any() for name in names} | {"recent": (recent & own).any()}

"""Ends of fetch clauses and exports: when their last fetch or write is done, and with which problem.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, flipped

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.register_slice import SliceMode, connect_slice
from ctm.rtl.lib.set_clear_flags import SetClearFlags
from ctm.rtl.r700.border.fetch_clause import fetch_outcome_layout
from ctm.rtl.r700.fetch.micro_op import begins_layout, executed_layout
from ctm.rtl.r700.fetch.returned import INSTRUCTION_BITS, fetch_error_layout, instruction_in
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS


class ClauseEnds(wiring.Component):
    """Gives the outcome of each clause and export when its last micro-op is executed and its wave slot is drained.

    A wave slot has one clause or export at a time. Its outcome comes two cycles after the last micro-op at the
    earliest, and two cycles after the previous one. Of several that can end the one of the lowest wave slot ends
    first. The budget is that of the last micro-op.

    The problem of a clause is its first one: that of the first error response to a fetch, else that of a micro-op.
    Responses of a wave slot come in the order of its instructions, and a micro-op with a problem is executed after all
    of them; so no error response belongs to a later instruction.

    Members
    -------
    begins : ``In(begins_layout(config))``
        A clause or an export begins, before its first micro-op is executed and after the previous one's outcome.
    executed : ``In(executed_layout(config))``
        A micro-op's last cycle. The last one of a clause `ends` it, or has a problem.
    drained : ``In(threads)``
        Wave slots without a fetch or a write in flight; low from the cycle after a fetch is requested.
    error : ``In(fetch_error_layout(config))``
        A fetch had an error response, at the latest in the last cycle in which its wave slot is not drained.
    outcome : ``Out(stream.Signature(fetch_outcome_layout(config)))``
    waits : ``Out(1)``
        A clause or an export whose last micro-op is executed waits for its fetches and writes, or for another outcome.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._threads = config.threads
        super().__init__(
            {
                "begins": In(begins_layout(config)),
                "executed": In(executed_layout(config)),
                "drained": In(config.threads),
                "error": In(fetch_error_layout(config)),
                "outcome": Out(stream.Signature(fetch_outcome_layout(config))),
                "waits": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        executed, begins = self.executed, self.begins
        m.submodules.budgets = budgets = DistributedRam(WORD_BITS, self._threads)
        m.submodules.problems = problems = DistributedRam(PROBLEM, self._threads)
        m.submodules.error_addresses = error_addresses = DistributedRam(PROBLEM["address"].shape, self._threads)
        m.submodules.firsts = firsts = DistributedRam(UNIT_ADDRESS_BITS, self._threads)
        flags = SetClearFlags(self._threads, ("draining", "stopped", "error"))
        firsts.write(m, begins.wave, begins.address, begins.valid)
        for name in ("stopped", "error"):
            flags.clear(name, self._waves(begins.wave, begins.valid))

        stops = executed.valid & (Value.cast(executed.problem.status) != Status.OK.value)
        ends = stops | (executed.valid & executed.ends)
        budgets.write(m, executed.wave, executed.budget, ends)
        problems.write(m, executed.wave, executed.problem, stops)
        flags.set("stopped", self._waves(executed.wave, stops))
        flags.set("draining", self._waves(executed.wave, ends))

        wave = self.error.wave
        is_first_error = self.error.valid & ~flags["error"].bit_select(wave, 1)
        error_addresses.write(m, wave, self._error_address(m, firsts.read(m, wave)), is_first_error)
        flags.set("error", self._waves(wave, is_first_error))

        done = lowest_one(flags["draining"] & self.drained)
        outcome, number = stream.Signature(self.outcome.payload.shape()).create(), one_hot_index(done)
        # The end of a fetch decides which wavefront control flow takes, by a path of its own.
        connect_slice(m, "outcome", outcome, flipped(self.outcome), SliceMode.LIGHT)
        problem = outcome.payload.problem
        m.d.comb += [
            outcome.valid.eq(done.any()),
            outcome.payload.wave.eq(number),
            outcome.payload.budget.eq(budgets.read(m, number)),
            self.waits.eq(flags["draining"].any()),
        ]
        # A fetch with an error response belongs to an earlier instruction than one that stops.
        with m.If(flags["error"].bit_select(number, 1)):
            m.d.comb += [
                problem.status.eq(Status.BUS_ERROR),
                problem.client.eq(BusClient.INPUT),
                problem.address.eq(error_addresses.read(m, number)),
            ]
        with m.Elif(flags["stopped"].bit_select(number, 1)):
            m.d.comb += problem.eq(problems.read(m, number))
        flags.clear("draining", Mux(outcome.ready, done, 0))
        flags.finish(m)
        return m

    def _waves(self, wave: Value, happens: Value) -> Value:
        """The bit of a wave slot if the condition holds, else 0."""
        return Mux(happens, (1 << wave)[: self._threads], 0)

    def _error_address(self, m: Module, first: Value) -> Value:
        """The address of the instruction whose fetch had an error, the only one of its clause with these low bits."""
        number = (self.error.instruction - instruction_in(first))[:INSTRUCTION_BITS]
        address = Signal(UNIT_ADDRESS_BITS, name="error_address")
        m.d.comb += address.eq(first + number * FETCH_UNITS)
        return address

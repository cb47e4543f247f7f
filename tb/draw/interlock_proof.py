"""What the interlock promises, as properties for a prover: order, tickets, and that nothing waits for ever."""

from dataclasses import replace
from itertools import combinations

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from ctm.rtl.config import DRAW_PRESET, PRESETS
from ctm.rtl.draw.interlock import Interlock
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS

TICKETS = 4
CONFIG = replace(PRESETS[DRAW_PRESET], array=replace(PRESETS[DRAW_PRESET].array, threads=TICKETS))
_PAIR_BITS = COLUMN_BITS + COORDINATE_BITS


class InterlockProof(wiring.Component):
    """The interlock between free strips and free ends.

    A ticket may come back in any cycle after its strip was taken, and only then. `watched` is any pair: of strips with
    it no two are in flight between grant and end.

    Members
    -------
    i, j, offers, takes, ends, ticket, watched : ``In``
        Free in every cycle; `watched` does not change.
    """

    i: In(COLUMN_BITS)
    j: In(COORDINATE_BITS)
    offers: In(1)
    takes: In(1)
    ends: In(1)
    ticket: In(range(TICKETS))
    watched: In(_PAIR_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the interlock with its surroundings."""
        m = Module()
        m.submodules.interlock = interlock = Interlock(CONFIG)
        strip, granted, ended = interlock.strip, interlock.granted, interlock.ended
        started = Signal()
        m.d.sync += started.eq(1)
        held, before = Signal(_PAIR_BITS), Signal()
        own = Cat(strip.payload.i, strip.payload.j)
        # A strip that waits stays as it is.
        m.d.sync += [before.eq(strip.valid & ~strip.ready), held.eq(own)]
        last = Signal.like(self.watched)
        m.d.sync += last.eq(self.watched)
        m.d.comb += [
            strip.payload.i.eq(self.i),
            strip.payload.j.eq(self.j),
            strip.valid.eq(self.offers),
            granted.ready.eq(self.takes),
            ended.valid.eq(self.ends),
            ended.ticket.eq(self.ticket),
            Assume(~started | (self.watched == last)),
            Assume(~before | (self.offers & (own == held))),
        ]
        self._follow(m, interlock, own)
        return m

    def _follow(self, m: Module, interlock: Interlock, own: Value) -> None:
        """Follow strips from their grant to their end, and say what has to hold."""
        strip, granted, ended = interlock.strip, interlock.granted, interlock.ended
        # Tickets that the array has, and those of strips with the watched pair that are in flight.
        taken, of_pair = Signal(TICKETS), Signal(TICKETS)
        offered = Signal(TICKETS)
        takes = Mux(granted.valid & granted.ready, (1 << granted.payload.ticket)[:TICKETS], 0)
        ends = Mux(ended.valid, (1 << ended.ticket)[:TICKETS], 0)
        grants = strip.valid & strip.ready
        watched_now, watched_before = grants & (own == self.watched), Signal()
        number = Mux(granted.valid, (1 << granted.payload.ticket)[:TICKETS], 0)
        m.d.sync += [
            taken.eq((taken | takes) & ~ends),
            watched_before.eq(watched_now),
            of_pair.eq((of_pair | Mux(watched_before, number, 0)) & ~ends),
        ]
        m.d.comb += [
            offered.eq(number),
            # Only what the array has can end.
            Assume(~ended.valid | (taken & ends).any()),
            # No two strips of one pair are in flight, whichever the pair is.
            Assert(~watched_now | ~(of_pair | Mux(watched_before, number, 0)).any()),
            # The array does not have a ticket that is offered.
            Assert(~(offered & taken).any()),
            # What is in flight is what the array has and what is offered to it.
            Assert(interlock.busy == (taken | offered)),
            # A strip goes on unless something that will end keeps it.
            Assert(~strip.valid | strip.ready | interlock.busy.any() | granted.valid),
            Cover(of_pair.any() & taken.all()),
            Cover(watched_now & (taken != 0)),
        ]
        # What makes it inductive: strips in flight have pairs of their own.
        busy, pairs = interlock.busy, [Value.cast(pair) for pair in interlock.pairs]
        with_pair = Cat(busy[ticket] & (pair == self.watched) for ticket, pair in enumerate(pairs))
        alike = [
            busy[one] & busy[other] & (pairs[one] == pairs[other]) for one, other in combinations(range(TICKETS), 2)
        ]
        m.d.comb += [
            Assert(with_pair == (of_pair | Mux(watched_before, number, 0))),
            Assert(~Cat(alike).any()),
            Assert(~watched_before | granted.valid),
        ]

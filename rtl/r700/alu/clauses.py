"""ALU clauses in execution: the remaining instructions of each, and its pixels' state beside registers.

Source: R700-Family Instruction Set Architecture, chapters 3 and 4; docs/design/r700-core.md.
"""

from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import GROUP_SLOTS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import DistributedRam, LazyTable
from ctm.rtl.lib.sharing import round_robin
from ctm.rtl.r700.alu.intervals import Intervals
from ctm.rtl.r700.border.alu_clause import address_layout, alu_clause_layout, masks_layout
from ctm.rtl.r700.code.groups import GROUP
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.quads import whole_quads
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS

CONTEXTS = 8
"""Clauses that a core executes at the same time."""
CONTEXT_FLAGS = ("occupied", "unread", "ready", "replays", "waiting", "ended")
"""State of a context, a bit of each. It is `occupied` by a clause, whose next group is `unread`, then `ready`; between
these two it is read. A ready group `replays` if it was issued for some of its pixels, and is `waiting` if it misses
constants. After the last group's results, or a problem, the clause has `ended`, and waits for its outcome to be
accepted."""


def contexts_of(config: ArrayConfig) -> int:
    """The smaller of `CONTEXTS` and the number of wave slots."""
    return min(CONTEXTS, config.threads)


def choose_context(m: Module, candidates: Value, now: Value, name: str) -> Signal:
    """One of the contexts in `candidates`, by round robin; none in a cycle without `now`."""
    pointer = Signal(len(candidates), name=f"{name}_pointer")
    chosen = Signal(len(candidates), name=f"{name}_chosen")
    m.d.comb += chosen.eq(Mux(now, round_robin(candidates, pointer), 0))
    with m.If(chosen.any()):
        m.d.sync += pointer.eq(~(chosen | (chosen - 1))[: len(candidates)])
    return chosen


def executing(m: Module, clause: data.View, masks: data.View) -> Signal:
    """Pixels in which a clause's instructions write: the active ones, and with `whole` the others of their quads."""
    active, found = (Signal(len(clause.inside), name=name) for name in ("active", "executing"))
    m.d.comb += [
        active.eq(masks.branch_mask & clause.inside),
        found.eq(Mux(clause.whole, whole_quads(m, active), active)),
    ]
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class ClauseTables:
    """The state of each context.

    The clause; masks; address registers, and whether the clause has set them; the next group, once it is read, and its
    address; VLIW slots of the previous group; remaining instructions; pixels for which a group is still to be issued;
    the cause of a stop. A table whose first contents are the clause's is valid from its first write, so that all but
    one table have one writer.
    """

    clauses: DistributedRam
    masks: LazyTable
    addresses: DistributedRam
    address_set: DistributedRam
    groups: DistributedRam
    nexts: LazyTable
    produced: LazyTable
    budgets: LazyTable
    remaining: DistributedRam
    problems: LazyTable

    @staticmethod
    def of(config: ArrayConfig) -> "ClauseTables":
        """The contexts' tables of a core."""
        begun: dict[str, Any] = {
            "masks": masks_layout(config.wavefront_lanes),
            "nexts": UNIT_ADDRESS_BITS,
            "produced": GROUP_SLOTS,
            "budgets": WORD_BITS,
            "problems": PROBLEM,
        }
        others: dict[str, Any] = {
            "clauses": alu_clause_layout(config),
            "addresses": address_layout(config.wavefront_lanes),
            "address_set": 1,
            "groups": GROUP,
            "remaining": config.wavefront_lanes,
        }
        count = contexts_of(config)
        tables: dict[str, Any] = {name: LazyTable(shape, count) for name, shape in begun.items()}
        tables.update({name: DistributedRam(shape, count) for name, shape in others.items()})
        return ClauseTables(**tables)

    def enter(self, m: Module, context: Value, clause: data.View, taken: Value) -> None:
        """Begin a clause."""
        self.clauses.write(m, context, clause, taken)
        self.address_set.write(m, context, 0, taken)
        for table in (self.masks, self.nexts, self.produced, self.budgets, self.problems):
            table.start(m, context, taken)

    def read_masks(self, m: Module, context: Value, clause: data.View) -> data.View:
        """The masks of a context; `clause` is its clause."""
        first = Cat(clause.branch_mask, clause.valid_mask, Const(0, 2 * len(clause.inside)))
        masks: data.View = self.masks.read(m, context, first=first)
        return masks

    def read_addresses(
        self, m: Module, intervals: Intervals, phase: Value, *, issued: Value, ending: Value
    ) -> tuple[data.View, data.View]:
        """The address registers of the context that issues a group, and of the one whose last results come.

        The first is read in the last cycle of an interval. One reader is enough if the second is read in another one;
        its row is registered, as `issued` is stable in an interval, and `ending` from the cycle before on.
        """
        if intervals.phase(intervals.last) == intervals.interval - 1:
            return self.addresses.read(m, issued), self.addresses.read(m, ending)
        row = delay(m, Mux(phase == intervals.interval - 2, issued, ending), name="context_read")
        kept = self.addresses.read(m, row)
        return kept, kept

"""Control of the fetch executor: which of its finders and writers works on the current micro-op.

Source: docs/design/r700-core.md.
"""

from itertools import chain

from amaranth import Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.views import record
from ctm.rtl.r700.fetch.micro_op import executed_layout, micro_op_layout
from ctm.rtl.r700.fetch.operation import Task, is_among

FINDERS = {
    "constants": (Task.CONSTANTS,),
    "share": (Task.SHARE_READ, Task.SHARE_WRITE),
    "areas": (Task.AREA, Task.ADDRESSES),
    "vertices": (Task.VERTEX,),
    "items": (Task.ITEMS,),
}
"""Finders, and the tasks that begin with them. `scaling` is another one: GRADIENT begins with it, and so does SAMPLE if
a coordinate is normalised."""
WRITERS = {"export": (Task.EXPORT,), "write": (Task.WRITE,), "vectors": (Task.VECTOR,)}
"""Writers, and their tasks. `send` is another one: it ends all other tasks but NOTHING and those of `_FINDERS_END`."""
_FINDERS_END = Task.SHARE_WRITE, Task.ADDRESSES, Task.ITEMS
"""Tasks that end with their finder."""


def units_of(config: MachineConfig) -> tuple[str, ...]:
    """The finders and writers that a machine has; each is a state of control."""
    absent = set() if config.pipeline.draws else {"vertices", "vectors"}
    absent |= set() if config.pipeline.has_geometry else {"items"}
    return tuple(name for name in ("scaling", *FINDERS, "send", *WRITERS) if name not in absent)


def units_layout(config: MachineConfig) -> data.StructLayout:
    """A bit for each of `units_of`."""
    return data.StructLayout(dict.fromkeys(units_of(config), 1))


class FetchControl(wiring.Component):
    """Executes one micro-op at a time, in order: starts its finder, if the task has one, and then its writer.

    A micro-op is accepted in the state READY, and its first unit works from the next cycle on; the writer works from
    the cycle after the finder's last one on. The cycle after the last one is READY again. Only in the last cycle of a
    `send` a micro-op is accepted, too, if it is sent without a finder, so that it begins in the next cycle; but not one
    of ELEMENT.

    NOTHING takes one cycle, in the state STOP. A micro-op with a problem, which has this task, too, is held there until
    its wave slot is drained, as an earlier fetch may have an earlier problem. CONSTANTS goes there after an error
    response, and has no writer then.

    Members
    -------
    micro_op : ``In(stream.Signature(micro_op_layout(config.array)))``
    current : ``Out(micro_op_layout(config.array))``
        The micro-op, from the cycle after it is accepted until another one is; after `failed` with its problem.
    starts : ``Out(units_layout(config))``
        At most one bit: the unit that works. It is high until the unit's bit in `dones`, and in that cycle.
    dones : ``In(units_layout(config))``
        The last cycle of a unit's work; ignored while its bit in `starts` is low.
    fails : ``In(1)``
        In a cycle of `dones.constants`: a line of constants had an error response.
    drained : ``In(threads)``
        Wave slots without a fetch or a write in flight.
    works : ``Out(1)``
        A micro-op is executed: in all states but READY.
    failed : ``Out(1)``
        In the cycle of `fails`: the micro-op will end its clause by the error response.
    executed : ``Out(executed_layout(config.array))``
        In the current micro-op's last cycle.
    """

    def __init__(self, config: MachineConfig) -> None:
        array = config.array
        self._names = units_of(config)
        self._current = record(micro_op_layout(array), name="op", reset_less=True)
        super().__init__(
            {
                "micro_op": In(stream.Signature(micro_op_layout(array))),
                "current": Out(micro_op_layout(array)),
                "starts": Out(units_layout(config)),
                "dones": In(units_layout(config)),
                "fails": In(1),
                "drained": In(array.threads),
                "works": Out(1),
                "failed": Out(1),
                "executed": Out(executed_layout(array)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        current, executed = self._current, self.executed
        m.d.comb += [
            self.current.eq(current),
            executed.wave.eq(current.clause.wave),
            executed.ends.eq(current.ends),
            executed.budget.eq(current.clause.budget),
            executed.problem.eq(current.problem),
        ]
        with m.If(self.micro_op.valid & self.micro_op.ready):
            m.d.sync += current.eq(self.micro_op.payload)
        with m.FSM() as fsm:
            self._ready(m)
            self._stop(m)
            for name in self._names:
                with m.State(name):
                    m.d.comb += self.starts[name].eq(1)
                    with m.If(self.dones[name]):
                        self._after(m, name)
        m.d.comb += self.works.eq(~fsm.ongoing("READY"))
        return m

    def _ready(self, m: Module) -> None:
        """Accept a micro-op, and begin with its first unit."""
        fetch = self.micro_op.payload.fetch
        with m.State("READY"):
            m.d.comb += self.micro_op.ready.eq(1)
            with m.If(self.micro_op.valid):
                m.next = "send"
                with m.If(self._scales(fetch)):
                    m.next = "scaling"
                for name, tasks in (FINDERS | WRITERS).items():
                    if name in self._names:
                        with m.If(is_among(fetch.task, tasks)):
                            m.next = name
                with m.If(fetch.task == Task.NOTHING):
                    m.next = "STOP"

    def _stop(self, m: Module) -> None:
        """End a micro-op without a problem at once, and one with a problem when earlier fetches have ended."""
        with m.State("STOP"):
            is_fine = Value.cast(self._current.problem.status) == Status.OK.value
            with m.If(self.drained.bit_select(self._current.clause.wave, 1) | is_fine):
                self._finish(m)

    def _after(self, m: Module, name: str) -> None:
        """Go on after a unit's last cycle."""
        if name in WRITERS:
            self._finish(m)
        elif name == "send":
            self._finish(m)
            with m.If(self._is_sent_next()):
                m.d.comb += self.micro_op.ready.eq(1)
                m.next = "send"
        else:
            m.next = "send"
            if ends := [task for task in FINDERS.get(name, ()) if task in _FINDERS_END]:
                with m.If(is_among(self._current.fetch.task, ends)):
                    self._finish(m)
            if name == "constants":
                with m.If(self.fails):
                    self._fail(m)

    def _fail(self, m: Module) -> None:
        """Stop the clause by the error response to a line of constants."""
        problem = self._current.problem
        m.d.comb += self.failed.eq(1)
        m.d.sync += [
            problem.status.eq(Status.BUS_ERROR),
            problem.client.eq(BusClient.FLOAT_CONSTANT),
            problem.address.eq(self._current.clause.begin),
        ]
        m.next = "STOP"

    def _finish(self, m: Module) -> None:
        """End the micro-op in this cycle."""
        m.d.comb += self.executed.valid.eq(1)
        m.next = "READY"

    def _scales(self, fetch: data.View) -> Value:
        """Whether the coordinates of a fetch are computed, by `scaling`."""
        return Value.cast((fetch.task == Task.GRADIENT) | ((fetch.task == Task.SAMPLE) & fetch.normalised.any()))

    def _is_sent_next(self) -> Value:
        """Whether the next micro-op is there, and needs only `send` from the next cycle on."""
        fetch, tasks = self.micro_op.payload.fetch, chain(*(FINDERS | WRITERS).values())
        others = is_among(fetch.task, (*tasks, Task.ELEMENT, Task.NOTHING))
        return Value.cast(self.micro_op.valid & ~self._scales(fetch) & ~others)

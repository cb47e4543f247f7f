"""The array: cores after one dispatcher, and one port of each memory client for all of them.

Only fetches keep a port for each core, because each core has its own first-level cache.
"""

from collections.abc import Callable, Sequence

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Member, Out, connect, flipped

from ctm.rtl.border.clients import LINE_BEATS
from ctm.rtl.border.lines import code_client
from ctm.rtl.border.programs import CORE_CREDITS, ArrayReport, CoreCredit, wavefront_layout
from ctm.rtl.border.shading import ShadingClient, drawn_layout
from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.core_border import Activity, LoadedProgram, memory_members
from ctm.rtl.dpp.core_module import CoreModule
from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import ADDRESS_BITS
from ctm.rtl.lib.sharing import Arbiter, SharedClient

_IN_ORDER = {"constants": LINE_BEATS, "tests": 1}
"""Clients whose responses come in the order of the requests, and the beats of a response."""

CoreMaker = Callable[[MachineConfig, InstructionSet], wiring.Component]


def array_members(
    config: ArrayConfig, shapes: Shapes, *, draws: bool = False, geometry: bool = False
) -> dict[str, Member]:
    """The memory clients of the array: those that all cores share, and each core's fetches."""
    members = memory_members(config, shapes, cores=config.cores, draws=draws, geometry=geometry)
    return members | {"fetches": members["fetches"].array(config.cores)}


class Array(wiring.Component):
    """All cores of the machine.

    A wavefront goes to the core whose number it has: with one core combinationally, with several through that core's
    FIFO, a cycle later at the earliest. `core` makes one core of the instruction set: a `CoreModule`, or a
    `CoreInstance` where cores are written as a module of their own.

    Members
    -------
    reset : ``In(1)``
        Resets the cores; all else has the reset of the clock domain.
    program, wavefront
        As a core's; wavefronts have the number of their core.
    credits : ``Out(CoreCredit())`` for each core
    report : ``Out(ArrayReport(program_format))``
        Of faults in one cycle that of the lowest core.
    code_address : ``In(32)``
        Where the program's code is, a multiple of 4; constant while the array is not idle.
    code : ``Out(code_client(config.memory.slice_bits))``
    activity : ``Out(Activity(config.array, shapes, cores=config.array.cores))``
    constants and so on
        See `array_members`.
    shading : ``Out(ShadingClient(config))``
        Of the only core of a machine that draws.
    """

    def __init__(self, config: MachineConfig, instruction_set: InstructionSet, core: CoreMaker = CoreModule) -> None:
        self._config, self._instruction_set, self._make_core = config, instruction_set, core
        array, shapes = config.array, instruction_set.shapes
        shading = {"shading": Out(ShadingClient(config))} if config.pipeline.draws else {}
        super().__init__(
            {
                "reset": In(1),
                "program": In(LoadedProgram(shapes)),
                "code_address": In(ADDRESS_BITS),
                "code": Out(code_client(config.memory.slice_bits)),
                "wavefront": In(
                    stream.Signature(wavefront_layout(array.wavefront_lanes, array.cores, drawn=drawn_layout(config)))
                ),
                "credits": Out(CoreCredit()).array(array.cores),
                "report": Out(ArrayReport(shapes.program_format)),
                "activity": Out(Activity(array, shapes, cores=array.cores)),
                **array_members(array, shapes, draws=config.pipeline.draws, geometry=config.pipeline.has_geometry),
                **shading,
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        cores: list[wiring.Component] = [
            self._make_core(self._config, self._instruction_set) for _ in range(self._config.array.cores)
        ]
        for number, core in enumerate(cores):
            m.submodules[f"core_{number}"] = core
            m.d.comb += core.reset.eq(self.reset)
            connect(m, flipped(self.program), core.program)
            connect(m, core.fetches, flipped(self.fetches[number]))
        self._count(m, [core.activity for core in cores])
        if self._config.pipeline.draws:
            connect(m, cores[0].shading, flipped(self.shading))
        self._dispatch(m, cores)
        self._connect_clients(m, cores)
        for core in reversed(cores):
            with m.If(core.fault.valid):
                m.d.comb += [self.report.fault.valid.eq(1), self.report.fault.payload.eq(core.fault.payload)]
        return m

    def _count(self, m: Module, activities: Sequence[wiring.PureInterface]) -> None:
        """Add up what the cores do."""
        m.d.comb += self.activity.issued.eq(Cat(own.issued for own in activities))
        for name in ("active_lanes", "stalls"):
            totals = getattr(self.activity, name)
            for number, total in enumerate(totals):
                m.d.comb += total.eq(sum(getattr(own, name)[number] for own in activities))

    def _dispatch(self, m: Module, cores: list[wiring.Component]) -> None:
        """Give each wavefront to its core; the array is idle when all cores are."""
        wavefront, idle = self.wavefront, Cat(core.idle for core in cores).all()
        taken = Cat(credit.taken for credit in self.credits)
        for core, credit in zip(cores, self.credits, strict=True):
            m.d.comb += [credit.free.eq(core.free), credit.taken.eq(core.wavefront.valid & core.wavefront.ready)]
        if len(cores) == 1:
            connect(m, flipped(wavefront), cores[0].wavefront)
            m.d.comb += self.report.idle.eq(idle)
            return
        waiting = []
        for number, core in enumerate(cores):
            own = Value.cast(core.wavefront.payload)
            m.submodules[f"wavefronts_{number}"] = queue = SyncFIFO(width=len(own), depth=CORE_CREDITS)
            is_own = wavefront.payload.core == number
            m.d.comb += [
                # Without the core's number, which is on top.
                queue.w_data.eq(wavefront.payload),
                queue.w_en.eq(wavefront.valid & is_own),
                own.eq(queue.r_data),
                core.wavefront.valid.eq(queue.r_rdy),
                queue.r_en.eq(core.wavefront.ready),
            ]
            with m.If(is_own):
                m.d.comb += wavefront.ready.eq(queue.w_rdy)
            waiting.append(queue.r_rdy)
        # A core may look idle in the cycle after one in which it took a wavefront.
        took = Signal()
        m.d.sync += took.eq(taken.any())
        m.d.comb += self.report.idle.eq(idle & ~Cat(waiting, took).any())

    def _connect_clients(self, m: Module, cores: list[wiring.Component]) -> None:
        for name, beats in _IN_ORDER.items():
            shared = getattr(self, name)
            m.submodules[name] = client = SharedClient(shared.signature, len(cores), beats=beats)
            connect(m, client.shared, flipped(shared))
            for number, core in enumerate(cores):
                connect(m, getattr(core, name), client.clients[number])
        m.submodules.code = code = self._instruction_set.code_reader(self._config)
        connect(m, code.lines, flipped(self.code))
        m.d.comb += code.address.eq(self.code_address)
        m.submodules.output = output = Arbiter(self.output.payload.shape(), len(cores))
        connect(m, output.output, flipped(self.output))
        for number, core in enumerate(cores):
            # R5xx cores load the program in the same cycles, whichever gets the first wavefront: one read serves all.
            m.d.comb += core.load.eq(self.wavefront.valid)
            connect(m, core.code, code.cores[number])
            connect(m, core.output, output.inputs[number])
        self._connect_uncached(m, cores)

    def _connect_uncached(self, m: Module, cores: list[wiring.Component]) -> None:
        """Uncached writes, whose responses go by wave slot."""
        port, done = self.uncached.write, self.uncached.done
        m.submodules.uncached = arbiter = Arbiter(cores[0].uncached.write.payload.shape(), len(cores))
        own = wave_bits(self._config.array)
        chosen = arbiter.output
        m.d.comb += [
            port.valid.eq(chosen.valid),
            chosen.ready.eq(port.ready),
            *(port.payload[name].eq(chosen.payload[name]) for name, _ in chosen.payload.shape() if name != "wave"),
            port.payload.wave.eq(Cat(chosen.payload.wave, arbiter.source)),
        ]
        for number, core in enumerate(cores):
            connect(m, core.uncached.write, arbiter.inputs[number])
            response, is_own = core.uncached.done, done.payload.wave >> own == number
            m.d.comb += [response.payload.wave.eq(done.payload.wave[:own]), response.valid.eq(done.valid & is_own)]
            with m.If(is_own):
                m.d.comb += done.ready.eq(response.ready)

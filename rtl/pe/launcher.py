"""Launches a program: loads its image, and checks whether it can run."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_BITS, LineClient
from ctm.rtl.border.programs import image_layout
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import ADDRESS_BITS
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.pe.loader import ProgramLoader


class LauncherControl(Interface):
    """The launch of a program, seen from the unit that commands it.

    Members
    -------
    invalidate : ``Out(1)``
        The image has to be loaded again; not while one is launched.
    launch : ``Out(1)``
        Only after the `done` of the previous launch.
    done : ``In(1)``
    status : ``In(Status)``
        With `done`: OK, or the error that prevents the program; of several that of the executable, then that of the
        conditional buffer. After a failed load the next launch tries again.
    address : ``In(32)``
        With `done` and BUS_ERROR: the address with the error.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "invalidate": Out(1),
                "launch": Out(1),
                "done": In(1),
                "status": In(Status),
                "address": In(ADDRESS_BITS),
            }
        )


class ProgramLauncher(wiring.Component):
    """Loads the image if none is loaded, and checks whether it can run; without a load this takes a cycle.

    Members
    -------
    base : ``In(32)``
        Address of the image.
    control : ``In(LauncherControl())``
    image : ``Out(image_layout(program_format, draws=draws))``
    image_loaded : ``Out(1)``
        Pulse: the image is new.
    conditional_legal, launch_status
        As the command processor's.
    lines : ``Out(LineClient(slice_bits))``
    """

    def __init__(self, program_format: ProgramFormat, *, draws: bool = False, slice_bits: int = LINE_BITS) -> None:
        self._format, self._draws, self._slice_bits = program_format, draws, slice_bits
        super().__init__(
            {
                "base": In(ADDRESS_BITS),
                "control": In(LauncherControl()),
                "image": Out(image_layout(program_format, draws=draws)),
                "image_loaded": Out(1),
                "conditional_legal": In(1),
                "launch_status": In(Status),
                "lines": Out(LineClient(slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        loader = ProgramLoader(self._format, draws=self._draws, slice_bits=self._slice_bits)
        m.submodules.loader = Gated(loader, loader.start | ~loader.idle)
        wiring.connect(m, loader.lines, wiring.flipped(self.lines))
        loaded = Signal()
        m.d.comb += [loader.base.eq(self.base), self.image.eq(loader.image), self.control.address.eq(loader.address)]
        with m.If(self.control.invalidate):
            m.d.sync += loaded.eq(0)
        with m.FSM():
            with m.State("idle"), m.If(self.control.launch):
                m.d.comb += loader.start.eq(~loaded)
                m.next = "check"
                with m.If(~loaded):
                    m.next = "load"
            with m.State("load"), m.If(loader.done):
                with m.If(loader.status == Status.OK):
                    m.d.comb += self.image_loaded.eq(1)
                    m.d.sync += loaded.eq(1)
                    m.next = "check"
                with m.Else():
                    m.d.comb += [self.control.done.eq(1), self.control.status.eq(loader.status)]
                    m.next = "idle"
            with m.State("check"):
                m.d.comb += [self.control.done.eq(1), self.control.status.eq(self.launch_status)]
                is_bad = Cat(self.launch_status == bad for bad in (Status.BAD_EXECUTABLE, Status.BAD_DRAW)).any()
                with m.If(~self.conditional_legal & ~is_bad):
                    m.d.comb += self.control.status.eq(Status.BAD_CONDITIONAL_FORMAT)
                m.next = "idle"
        return m

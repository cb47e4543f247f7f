"""A program's launch: the cores' `PROGRAM`, from its program information and the state that commands set.

Source: CTM Guide pp. 34, 45-49.
"""

from amaranth import Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, EXTENT
from ctm.rtl.border.programs import LaunchClient
from ctm.rtl.dpp.program import connect_launch
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import INPUTS, OUTPUTS, WORD_BITS
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT, PROGRAM_INFORMATION
from ctm.rtl.isa.status import Status
from ctm.rtl.r5xx.shapes import PROGRAM


class Launch(wiring.Component):
    """Makes the cores' `PROGRAM`. Combinational.

    Members
    -------
    processor : ``In(LaunchClient(PROGRAM_FORMAT))``
        The status is OK, or BAD_UMRT_FORMAT: an uncached-write program needs a FLOAT32_1 output 0. No program of this
        instruction set reads the domain.
    inputs : ``In(EXTENT)``, 16 of them
    outputs : ``In(BUFFER)``, 4 of them
    tests : ``In(1)``
        The conditional unit tests the array's wavefronts.
    watchdog : ``In(32)``
    program : ``Out(PROGRAM)``
    """

    processor: In(LaunchClient(PROGRAM_FORMAT))
    inputs: In(data.ArrayLayout(EXTENT, INPUTS))
    outputs: In(data.ArrayLayout(BUFFER, OUTPUTS))
    tests: In(1)
    watchdog: In(WORD_BITS)
    program: Out(PROGRAM)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        information = {
            name: data.View(layout, word)
            for (name, layout), word in zip(PROGRAM_INFORMATION.items(), self.processor.image.information, strict=True)
        }
        program, offset = self.program, information["US_CODE_OFFSET"].offset
        uncached = information["UMRT"].uncached_writes
        m.d.comb += [
            program.start.eq(offset + information["US_CODE_ADDR"].start),
            program.end.eq(offset + information["US_CODE_ADDR"].end),
            program.code_offset.eq(offset),
            program.highest_temporary.eq(information["US_PIXSIZE"].highest_temporary),
            program.zero_times_anything.eq(information["US_CONFIG"].zero_times_anything),
            program.full_flow_control.eq(information["US_FC_CTRL"].full_fc_en),
            program.conditional_from_program.eq(information["FG_DEPTH_SRC"].from_program),
            program.uncached_writes.eq(uncached),
        ]
        connect_launch(m, self)
        wrong = uncached & (Value.cast(self.outputs[0].format) != DataFormat.FLOAT32_1.value)
        m.d.comb += self.processor.status.eq(Mux(wrong, Status.BAD_UMRT_FORMAT, Status.OK))
        return m

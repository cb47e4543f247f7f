"""The fetch unit: executes fetch clauses and exports, pass by pass.

Source: R700-Family Instruction Set Architecture, chapter 5 and section 3.4; docs/design/r700-core.md.
"""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS, FetchClient, UncachedClient
from ctm.rtl.border.shading import VERTEX_BUFFER_WRITE, vector_write_layout, vertex_write_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.constants.loader import miss_layout
from ctm.rtl.dpp.core_border import fetch_tag_layout
from ctm.rtl.dpp.registers.outputs import output_write_layout
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.rtl.r700.alu.constants import ROW_BITS
from ctm.rtl.r700.code.cache import FOUND, ROW_ADDRESS_BITS
from ctm.rtl.r700.memory.constants import ROWS
from ctm.rtl.r700.memory.executor import FetchExecutor
from ctm.rtl.r700.memory.move import move_layout, moved_layout
from ctm.rtl.r700.passes import by_segment
from ctm.rtl.r700.registers.file import register_address_layout, slice_words
from ctm.rtl.r700.registers.writing import pass_write_layout
from ctm.rtl.r700.shapes import AREAS, PROGRAM, SHAPES
from ctm.rtl.r700.start import numbered_layout
from ctm.rtl.r700.trace import fetch_trace_layout


class FetchUnit(wiring.Component):
    """Executes fetch clauses and exports one after the other, and gives their outcomes.

    An instruction reads one register, in a cycle in which the ALU does not, and sends a fetch for each pass of the
    lanes in which a pixel executes. Instructions of a clause do not wait for responses, unless one names a register
    that an earlier one has yet to write. Normalised coordinates take one cycle more for each pixel.

    Members
    -------
    program : ``In(PROGRAM)``
    move : ``In(stream.Signature(move_layout(config)))``
    moved : ``Out(stream.Signature(moved_layout(config)))``
    code_row, code_reads, code_found
        A reader of the code cache, in the cycles of `code_free`.
    read : ``Out(stream.Signature(register_address_layout(config)))``
        A register to be read; its words come in the next cycle.
    share : ``In(stream.Signature(wave))``
        A wave slot whose rows of the local data share are to be cleared.
    words : ``In(ArrayLayout(words of a slice, 4))``
    words_valid : ``In(4)``
    write : ``Out(stream.Signature(pass_write_layout(config)))``
    fetch_error : ``Out(1)``
        A fetch had an error response; it writes nothing.
    in_flight : ``In(1)``
        Passes that none follows are not yet in the registers.
    outputs : ``Out(output_write_layout)``
        Their context is the row of a segment: wave slot * segments + segment.
    fetches : ``Out(FetchClient(lanes, tag, areas))``
    uncached : ``Out(UncachedClient(lanes, wave, areas))``
    numbered : ``In({valid, wave, number})``
        The number of the first pixel of a wave slot's wavefront in the domain.
    constant, constant_free, constant_words
        A reader of the float constants, in the cycles of `constant_free`.
    loaded, error, miss
        Lines of constants, and those that are missing.
    issued, active
        The issue and its active pixels, for counters.
    trace : ``Out(fetch_trace_layout(config))``
    buffer, exported
        Where the machine draws: as those of `ShadingClient`.
    vertex, streams
        With geometry programs: likewise.
    waits : ``Out(1)``
        A wavefront waits for responses, of fetches or of writes.
    busy : ``Out(1)``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._machine, self._config = config, config.array
        self.sending = Signal(SHAPES.program_format.most_units.bit_length())
        """The address of the instruction that sends fetches, for an observer."""
        array = config.array
        wide = data.ArrayLayout(slice_words(array), CHANNELS)
        exported = Out(vector_write_layout(config.pipeline.vertices))
        shading = {"buffer": In(VERTEX_BUFFER_WRITE), "exported": exported} if config.pipeline.draws else {}
        geometry = {"vertex": In(vertex_write_layout(config.pipeline.vertices)), "streams": Out(STREAMS)}
        has_geometry = config.pipeline.has_geometry
        super().__init__(
            {
                "program": In(PROGRAM),
                "move": In(stream.Signature(move_layout(array))),
                "share": In(stream.Signature(wave_bits(array))),
                "moved": Out(stream.Signature(moved_layout(array))),
                "code_row": Out(ROW_ADDRESS_BITS),
                "code_reads": Out(1),
                "code_free": In(1),
                "code_found": In(FOUND),
                "read": Out(stream.Signature(register_address_layout(array))),
                "words": In(wide),
                "words_valid": In(CHANNELS),
                "write": Out(stream.Signature(pass_write_layout(array))),
                "fetch_error": Out(1),
                "in_flight": In(1),
                "outputs": Out(output_write_layout(by_segment(array), SHAPES)),
                "fetches": Out(
                    FetchClient(
                        array.at_once, fetch_tag_layout(array, SHAPES), len(AREAS), memory=config.pipeline.draws
                    )
                ),
                "uncached": Out(UncachedClient(array.at_once, wave_bits(array), len(AREAS), memory=has_geometry)),
                "numbered": In(numbered_layout(array)),
                "constant": Out(ROW_BITS),
                "constant_free": In(1),
                "constant_words": In(WORDS),
                "loaded": In(FLOAT_CONSTANTS // 4),
                "error": In(FLOAT_CONSTANTS // 4),
                "miss": Out(miss_layout(ROWS)),
                "issued": Out(1),
                "active": Out(array.wavefront_lanes),
                "trace": Out(fetch_trace_layout(array)),
                "waits": Out(1),
                "busy": Out(1),
                **shading,
                **(geometry if has_geometry else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        return FetchExecutor(m, self, self._machine).build()

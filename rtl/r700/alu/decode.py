"""A group, decoded for one issue: its reads, the lanes' operations, its writes, and whether it is legal.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/design/r700-core.md.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import RECORD_ROWS
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.shading import PARAMETERS
from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.rtl.isa.r700.alu import IndexMode
from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, GROUP_SLOTS, KCACHE_LINE_ROWS, KCACHE_SETS, LOOP_INDEX_BITS
from ctm.rtl.isa.r700.pipeline import PRIMITIVE_BANKS
from ctm.rtl.r700.alu.instructions import EFFECT, GroupInstructions
from ctm.rtl.r700.alu.operands import OPERAND, OPERANDS, READS
from ctm.rtl.r700.alu.operands import ROW_BITS as ROW_BITS_OF_ALL
from ctm.rtl.r700.alu.port_schedule import DECODE_CYCLES
from ctm.rtl.r700.alu.reads import GroupReads
from ctm.rtl.r700.border.alu_clause import FIRST_SHAPE_LINE, KCACHE, SHAPE_BANK_LINES
from ctm.rtl.r700.border.constants import ROW_BITS
from ctm.rtl.r700.border.lane import INDEX, LaneControl
from ctm.rtl.r700.code.groups import GROUP

_LINES = FLOAT_CONSTANTS // 4
_SHAPE_BANK_BITS = (SHAPE_BANK_LINES * KCACHE_LINE_ROWS - 1).bit_length()
RECORD_BANK = PRIMITIVE_BANKS - 1
"""The bank of a shape's record. Banks 1 to 3 have its vertices' parameters, the last one its provoking vertex's."""

INDICES = data.StructLayout({"address": data.ArrayLayout(INDEX, CHANNELS), "loop": LOOP_INDEX_BITS})
"""The bases of relative numbers: the address registers of some pixels, and aL."""

CONSTANT_PAIR = data.StructLayout({"row": ROW_BITS, "half": 1, "exists": 1, "bank": PRIMITIVE_BANKS.bit_length()})
"""Two neighbouring channels, the `half`, of a `row` of a bank; bank 0 has the float constants. One that does not exist
is 0."""

DECODED = data.StructLayout(
    {
        "ports": READS["ports"].shape,
        "pairs": data.ArrayLayout(CONSTANT_PAIR, CONSTANT_PAIRS),
        "operands": data.ArrayLayout(data.ArrayLayout(OPERAND, OPERANDS), GROUP_SLOTS),
        "literals": GROUP["literals"].shape,
        "control": LaneControl,
        "effects": data.ArrayLayout(EFFECT, GROUP_SLOTS),
        "indices": INDICES,
    }
)


def offset_of(m: Module, indices: data.View, mode: Value) -> Signal:
    """The offset that is added to a relative number, in registers or rows: a channel of AR, or aL."""
    offset = Signal(signed(LOOP_INDEX_BITS + 1), name="offset")
    channels = [indices.address[channel] for channel in range(CHANNELS)]
    m.d.comb += offset.eq(Mux(mode == IndexMode.LOOP.value, indices.loop, Array(channels)[mode[:2]]))
    return offset


class NeededLines(Interface):
    """The lines of constants that a group needs, seen from the unit that decodes it. Outputs follow in the same cycle.

    A line has four rows of the float constants; a line of the kcache has 16.

    Members
    -------
    loaded, error : ``In(64)``
        Lines that are loaded, and those whose latest load had an error response, also if they are invalid since.
    missing : ``Out(2)``
        Pairs whose lines are needed and not loaded.
    lines : ``Out(ArrayLayout(6, 2))``
        The line of each pair; undefined for one that is not missing.
    is_error : ``Out(1)``
        A needed line is loaded and had an error response.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "loaded": In(_LINES),
                "error": In(_LINES),
                "missing": Out(CONSTANT_PAIRS),
                "lines": Out(data.ArrayLayout(ROW_BITS - 2, CONSTANT_PAIRS)),
                "is_error": Out(1),
            }
        )


class GroupDecode(wiring.Component):
    """Decodes one group in four cycles; all outputs are valid in the last one.

    `group`, `kcache` and `produced` are stable in the four cycles. Outputs follow from the other inputs in the same
    cycle. With `draws` it may read constants of shapes; without, these do not exist.

    Members
    -------
    cycle : ``In(range(4))``
        The number of the cycle.
    group : ``In(GROUP)``
    kcache : ``In(ArrayLayout(KCACHE, 2))``
    produced : ``In(5)``
        Slots of the clause's previous group.
    indices : ``In(INDICES)``
    any_pixel : ``In(1)``
        A pixel has these indices; if none has, a relative constant needs no line.
    dx10_clamp : ``In(1)``
        The program's.
    decoded : ``Out(DECODED)``
        With `illegal` it is undefined.
    relative : ``Out(1)``
        An operand or a result is relative to AR, so that pixels with other indices are executed by themselves.
    illegal : ``Out(1)``
    constants : ``Out(NeededLines())``
    """

    def __init__(self, *, draws: bool = False) -> None:
        self._draws = draws
        super().__init__(
            {
                "cycle": In(range(DECODE_CYCLES)),
                "group": In(GROUP),
                "kcache": In(data.ArrayLayout(KCACHE, KCACHE_SETS)),
                "produced": In(GROUP_SLOTS),
                "indices": In(INDICES),
                "any_pixel": In(1),
                "dx10_clamp": In(1),
                "decoded": Out(DECODED),
                "relative": Out(1),
                "illegal": Out(1),
                "constants": Out(NeededLines()),
            }
        )

    latency = DECODE_CYCLES - 1

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.instructions = instructions = GroupInstructions()
        m.submodules.reads = reads = GroupReads()
        decoded, constants = self.decoded, self.constants
        m.d.comb += [
            instructions.group.eq(self.group),
            reads.cycle.eq(self.cycle),
            reads.group.eq(self.group),
            reads.kcache.eq(self.kcache),
            reads.produced.eq(self.produced),
            self.relative.eq(instructions.relative | reads.reads.relative),
            self.illegal.eq(self.group.illegal | instructions.illegal | reads.reads.illegal),
            decoded.ports.eq(reads.reads.ports),
            decoded.operands.eq(reads.reads.operands),
            decoded.literals.eq(self.group.literals),
            *(decoded.control.slots[slot].eq(instructions.controls[slot]) for slot in range(GROUP_SLOTS)),
            decoded.control.dx10_clamp.eq(self.dx10_clamp),
            decoded.effects.eq(instructions.effects),
            decoded.indices.eq(self.indices),
        ]
        error: list[Value] = []
        for number in range(CONSTANT_PAIRS):
            pair, target = reads.reads.pairs[number], decoded.pairs[number]
            row = Signal(signed(len(pair.row) + 2), name=f"row_{number}")
            mode = Value.cast(pair.mode)
            line = target.row[2:]
            wanted = pair.used & target.exists & ~target.bank.any() & (~pair.relative | self.any_pixel)
            exists = (row >= 0) & (row < FLOAT_CONSTANTS)
            if self._draws:
                exists |= self._find_bank(m, row, target)
            m.d.comb += [
                row.eq(pair.row + Mux(pair.relative, offset_of(m, self.indices, mode), Const(0, signed(2)))),
                target.exists.eq(exists),
                target.row.eq(row[:ROW_BITS]),
                target.half.eq(pair.half),
                constants.lines[number].eq(line),
                constants.missing[number].eq(wanted & ~constants.loaded.bit_select(line, 1)),
            ]
            # A line that had an error response and was invalidated since is loaded first.
            error.append(wanted & ~constants.missing[number] & constants.error.bit_select(line, 1))
        m.d.comb += constants.is_error.eq(Cat(error).any())
        return m

    def _find_bank(self, m: Module, row: Value, target: data.View) -> Value:
        """Set the bank of a row; gives whether the row is one of a shape's constants."""
        number = (row - (FIRST_SHAPE_LINE - SHAPE_BANK_LINES // 4) * KCACHE_LINE_ROWS)[:ROW_BITS_OF_ALL]
        in_bank, bank = number[:_SHAPE_BANK_BITS], number[_SHAPE_BANK_BITS:]
        first = SHAPE_BANK_LINES // 4 * KCACHE_LINE_ROWS
        rows = Mux(bank == RECORD_BANK, RECORD_ROWS, PARAMETERS)
        is_one = bank.any() & (bank <= PRIMITIVE_BANKS) & (in_bank >= first) & (in_bank < first + rows)
        with m.If(is_one):
            m.d.comb += target.bank.eq(bank)
        return is_one

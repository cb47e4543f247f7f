"""ALU and OUTPUT statements; CTM Guide pp. 23-32."""

from ctm.rtl.isa.r5xx.opcodes import InstructionType, Presubtract
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.encoder.encoder import Given, encode
from ctm.sim.assembler.r5xx.encoder.pairing import pair
from ctm.sim.assembler.r5xx.encoder.sources import SLOTS, UNUSED
from ctm.sim.assembler.r5xx.parser.halves import parse_half
from ctm.sim.assembler.r5xx.parser.options import COMMON_FLAGS, STATISTICS, parse_flags
from ctm.sim.assembler.r5xx.parser.registers import parse_source
from ctm.sim.assembler.r5xx.syntax import Register, Unit
from ctm.sim.assembler.tokens import PARALLEL

RGB_SOURCES = "rgb_src"
ALPHA_SOURCES = "alpha_src"
_SOURCES = {RGB_SOURCES: Unit.RGB, ALPHA_SOURCES: Unit.ALPHA}
_OPTIONS = (*COMMON_FLAGS, STATISTICS, *_SOURCES, "{")
_PRESUBTRACTS = {presubtract.name.lower(): presubtract for presubtract in Presubtract}


def parse_arithmetic(cursor: Cursor, kind: InstructionType, *, uncached_writes: bool) -> Draft:
    """`half [|| half] [flags] [rgb_src(...)] [alpha_src(...)]`, after ALU or OUT."""
    halves = []
    if not cursor.at_end and not cursor.next_is(*_OPTIONS):
        halves.append(parse_half(cursor))
        while cursor.accept(PARALLEL):
            halves.append(parse_half(cursor))
    draft = Draft(kind)
    given: dict[Unit, Given] = {}
    while True:
        name = cursor.token.text.lower()
        if name in _SOURCES:
            if _SOURCES[name] in given:
                cursor.fail(f"{name} was written before")
            given[_SOURCES[name]] = _sources(cursor)
        elif not parse_flags(cursor, draft):
            break
    encode(draft, pair(halves), given, uncached_writes=uncached_writes)
    return draft


def _sources(cursor: Cursor) -> Given:
    """`rgb_src(r0, c1, 2.0)`, up to three sources; then a presubtract: BIAS, SUB, ADD or INV."""
    cursor.take()
    cursor.expect("(")
    registers: list[Register] = []
    presubtract = None
    while not cursor.next_is(")"):
        if cursor.next_is(*_PRESUBTRACTS):
            presubtract = cursor.choose(_PRESUBTRACTS, "a presubtract")
            break
        if len(registers) == SLOTS:
            cursor.fail(f"an instruction has {SLOTS} sources of each unit")
        registers.append(parse_source(cursor))
        if cursor.accept(",") is None:
            break
    cursor.expect(")")
    return Given(tuple(registers) + (UNUSED,) * (SLOTS - len(registers)), presubtract)

"""What an instruction reads and writes.

Only what can influence a result counts: an operand that the operation does not take, a channel that is not used and
a source address that no operand selects are not read. Source: CTM Guide pp. 25-38.
"""

from collections.abc import Mapping, Sequence

from ctm.rtl.isa.r5xx.instruction import WORDS
from ctm.rtl.isa.r5xx.opcodes import WITHOUT_LOOKUP, FlowOperation, InstructionType, TextureOperation
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.r5xx.arithmetic import arithmetic_usage
from ctm.sim.elf.r5xx.registers import Registers, Usage

Fields = Mapping[str, int]

_WITH_INT_CONSTANT = {FlowOperation.LOOP, FlowOperation.REP, FlowOperation.ENDLOOP}


def usage(words: Sequence[int]) -> Usage:
    """What an instruction of six words reads and writes; an illegal operation is taken to read every operand."""
    kind = InstructionType(words[0] & 3)
    unpacked = [unpack(layout, word) for layout, word in zip(WORDS[kind], words, strict=True)]
    if kind is InstructionType.TEX:
        return _texture_usage(unpacked)
    if kind is InstructionType.FC:
        return _flow_usage(unpacked)
    return arithmetic_usage(unpacked, is_output=kind is InstructionType.OUTPUT)


def _temporary(fields: Fields, name: str) -> Registers:
    if fields[f"{name}_rel"]:
        return Registers(relative=True)
    return Registers(frozenset({fields[name]}))


def _texture_usage(unpacked: Sequence[Fields]) -> Usage:
    common, inst, addr, derivatives = unpacked[:4]
    operation = TextureOperation(inst["inst"])
    if operation is TextureOperation.NOP:
        return Usage()
    reads, writes = _temporary(addr, "src_addr"), Registers()
    if operation is TextureOperation.DXDY:
        reads |= _temporary(derivatives, "dx_addr") | _temporary(derivatives, "dy_addr")
    if operation in WITHOUT_LOOKUP:
        return Usage(reads=reads)
    if common["rgb_wmask"] or common["alpha_wmask"]:
        writes = _temporary(addr, "dst_addr")
    return Usage(reads=reads, writes=writes, input=inst["tex_id"])


def _flow_usage(unpacked: Sequence[Fields]) -> Usage:
    inst, addr = unpacked[2], unpacked[3]
    uses_int = FlowOperation(inst["op"]) in _WITH_INT_CONSTANT
    return Usage(int_constant=addr["int_addr"] if uses_int else None)

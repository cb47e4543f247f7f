"""CF instructions: a program's control flow, which starts clauses and exports.

Source: R700-Family Instruction Set Architecture, CF_DWORD0 to CF_ALU_DWORD1; numbers confirmed by Mesa and LLVM.
"""

from amaranth.lib import data, enum


class CfOperation(enum.Enum, shape=7):
    """CF_INST of words that are neither ALU clauses nor exports."""

    NOP = 0x00
    TEX = 0x01
    VTX = 0x02
    VTX_TC = 0x03
    LOOP_START = 0x04
    LOOP_END = 0x05
    LOOP_START_DX10 = 0x06
    LOOP_START_NO_AL = 0x07
    LOOP_CONTINUE = 0x08
    LOOP_BREAK = 0x09
    JUMP = 0x0A
    PUSH = 0x0B
    PUSH_ELSE = 0x0C
    ELSE = 0x0D
    POP = 0x0E
    POP_JUMP = 0x0F
    POP_PUSH = 0x10
    POP_PUSH_ELSE = 0x11
    CALL = 0x12
    CALL_FS = 0x13
    RETURN = 0x14
    EMIT_VERTEX = 0x15
    EMIT_CUT_VERTEX = 0x16
    CUT_VERTEX = 0x17
    KILL = 0x18
    END_PROGRAM = 0x19
    WAIT_ACK = 0x1A
    TEX_ACK = 0x1B
    VTX_ACK = 0x1C
    VTX_TC_ACK = 0x1D


TEXTURE_CLAUSES = (CfOperation.TEX, CfOperation.TEX_ACK)
VERTEX_CLAUSES = (CfOperation.VTX, CfOperation.VTX_TC, CfOperation.VTX_ACK, CfOperation.VTX_TC_ACK)
FETCH_CLAUSES = (*TEXTURE_CLAUSES, *VERTEX_CLAUSES)
"""Those that start a clause of fetches."""
ACKNOWLEDGED_CLAUSES = (CfOperation.TEX_ACK, CfOperation.VTX_ACK, CfOperation.VTX_TC_ACK)
"""Those that first wait until all writes are acknowledged."""
WITHOUT_TARGET = (
    *FETCH_CLAUSES,
    CfOperation.NOP,
    CfOperation.POP,
    CfOperation.KILL,
    CfOperation.RETURN,
    CfOperation.WAIT_ACK,
    CfOperation.EMIT_VERTEX,
    CfOperation.EMIT_CUT_VERTEX,
    CfOperation.CUT_VERTEX,
)
"""Those whose ADDR is not the next address. A RETURN continues after the CALL."""
UNSUPPORTED = (
    CfOperation.CALL_FS,
    CfOperation.EMIT_VERTEX,
    CfOperation.EMIT_CUT_VERTEX,
    CfOperation.CUT_VERTEX,
    CfOperation.END_PROGRAM,
)
"""Those that this machine does not do: most are of stages that it has not."""
EMITS = (CfOperation.EMIT_VERTEX, CfOperation.EMIT_CUT_VERTEX, CfOperation.CUT_VERTEX)
"""Those of geometry programs: they emit a vertex, and end the strip of those that were emitted."""
UNCONDITIONAL = (*FETCH_CLAUSES, CfOperation.KILL)
"""Those that can have no condition."""


class AluClause(enum.Enum, shape=4):
    """CF_INST of words that start an ALU clause; bit 29 of the second word is set in all of them."""

    ALU = 0x8
    ALU_PUSH_BEFORE = 0x9
    ALU_POP_AFTER = 0xA
    ALU_POP2_AFTER = 0xB
    ALU_CONTINUE = 0xD
    ALU_BREAK = 0xE
    ALU_ELSE_AFTER = 0xF


class Condition(enum.Enum, shape=2):
    """COND: the active pixels that pass a word's test. A boolean constant is the same for all pixels."""

    ACTIVE = 0
    FALSE = 1
    BOOL = 2
    NOT_BOOL = 3


class KcacheMode(enum.Enum, shape=2):
    """Lines that a clause locks for a set: none, one line of 16 constants, two lines, or two lines at aL."""

    NOP = 0
    LOCK_1 = 1
    LOCK_2 = 2
    LOCK_LOOP_INDEX = 3


CF_DWORD0 = data.StructLayout({"addr": 32})
"""Address of a clause or a CF instruction, from the program's start."""

CF_DWORD1 = data.StructLayout(
    {
        "pop_count": 3,
        "cf_const": 5,
        "cond": Condition,
        "count": 3,
        "call_count": 6,
        "count_3": 1,
        "reserved": 1,
        "end_of_program": 1,
        "valid_pixel_mode": 1,
        "cf_inst": CfOperation,
        "whole_quad_mode": 1,
        "barrier": 1,
    }
)
"""`count_3` is bit 3 of `count`: fetch instructions of the clause less one. `cf_const`: a bool or int constant."""

CF_ALU_DWORD0 = data.StructLayout(
    {"addr": 22, "kcache_bank0": 4, "kcache_bank1": 4, "kcache_mode0": KcacheMode},
)

CF_ALU_DWORD1 = data.StructLayout(
    {
        "kcache_mode1": KcacheMode,
        "kcache_addr0": 8,
        "kcache_addr1": 8,
        "count": 7,
        "alt_const": 1,
        "cf_inst": AluClause,
        "whole_quad_mode": 1,
        "barrier": 1,
    }
)
"""`count`: units of the clause less one, literals included. `kcache_addr`: a line of the constant bank."""

CF_FORM = data.StructLayout({"operation": 28, "is_export": 1, "is_alu": 1, "modes": 2})
"""Which kind of word it is, by the second one: ALU clause, else export, else any other."""

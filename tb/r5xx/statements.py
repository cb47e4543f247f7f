"""Statements as instruction words, field by field after the manual's table (p. 39), for directed tests."""

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, RgbOperation, TextureOperation, ZeroTest
from ctm.tb.r5xx.machine import Instruction, alu, flow, tex

JUMP, LOOP, ENDLOOP, REP, ENDREP, BREAKLOOP, BREAKREP, CONTINUE = range(8)
NONE, DECR, INCR = range(3)
POP, PUSH = 1, 2
NOT_ALU, ALU, NOT_PREDICATE, PREDICATE, NOT_BOOL, BOOL, ALWAYS, NEVER = 0x0F, 0xF0, 0x33, 0xCC, 0x55, 0xAA, 0xFF, 0
ONE = 6


def compare(constant: int, test: ZeroTest, *, channel: int = 0, **fields: int) -> Instruction:
    """ALU result = (r0[channel] - c[constant].r) against zero; channel 0 is i, 1 is j."""
    rgb = {
        "addr0": 0, "addr1": constant, "addr1_const": 1, "red_swiz_a": channel, "red_swiz_b": ONE, "rgb_sel_c": 1,
        "red_swiz_c": 0, "rgb_mod_c": 1, "alu_wmask": 1,
    }  # fmt: skip
    return alu(rgb=rgb, alpha=None, alu_result_op=test.value, **fields)


def predicate(constant: int, test: ZeroTest, *, mask: int = 1, channel: int = 0, **fields: int) -> Instruction:
    """Predicate bits of `mask` (R = 1, G = 2, B = 4) = (r0[channel] - c[constant].r) against zero."""
    rgb = {
        "addr0": 0, "addr1": constant, "addr1_const": 1, "rgb_sel_c": 1, "rgb_mod_c": 1, "target": test.value,
        "red_swiz_a": channel, "green_swiz_a": channel, "blue_swiz_a": channel,
        "red_swiz_b": ONE, "green_swiz_b": ONE, "blue_swiz_b": ONE,
        "red_swiz_c": 0, "green_swiz_c": 0, "blue_swiz_c": 0,
    }  # fmt: skip
    return alu(rgb=rgb, alpha=None, rgb_omask=mask, **fields)


def add(constant: int, *, temporary: int = 1, relative: bool = False, **fields: int) -> Instruction:
    """r[temporary].r += c[constant].r; with `relative`, aL is added to the temporary's number."""
    rgb = {
        "addr0": temporary, "addr0_rel": relative, "addr1": constant, "addr1_const": 1, "red_swiz_b": ONE,
        "rgb_sel_c": 1, "rgb_addrd": temporary, "rgb_addrd_rel": relative,
    }  # fmt: skip
    return alu(rgb=rgb, alpha=None, **{"rgb_wmask": 1, **fields})


def jump(target: int, function: int = ALWAYS, **fields: int) -> Instruction:
    """A flow-control instruction; fields of its words by their names, others 0."""
    inst_names = {"op", "jump_any", "a_op", "b_op0", "b_op1", "b_pop_cnt", "b_else", "ignore_uncovered"}
    addr_names = {"bool_addr", "int_addr", "jump_global"}
    inst = {name: fields.pop(name) for name in list(fields) if name in inst_names}
    addr = {name: fields.pop(name) for name in list(fields) if name in addr_names}
    return flow(inst={"jump_func": function, **inst}, addr={"jump_addr": target, **addr}, alu_wait=1, **fields)


def begin_if(after: int, function: int = NOT_ALU, *, has_else: bool = False, **fields: int) -> Instruction:
    """IF: jumps to `after` (ENDIF+1, or ELSE+1) where no pixel enters."""
    return jump(after, function, b_op0=INCR, b_op1=INCR if has_else else NONE, **fields)


def otherwise(after: int) -> Instruction:
    """ELSE: jumps to ENDIF+1 where no pixel is active."""
    return jump(after, NEVER, b_op1=DECR, b_pop_cnt=1, b_else=1)


def end_if(count: int = 1) -> Instruction:
    """ENDIF of `count` merged levels."""
    return jump(0, NEVER, jump_any=1, b_op0=DECR, b_pop_cnt=count)


def begin_loop(after: int, constant: int = 0, *, op: int = LOOP) -> Instruction:
    """LOOP or REP: jumps to the end's successor where the count is 0."""
    return jump(after, NEVER, op=op, int_addr=constant)


def end_loop(first: int, constant: int = 0, *, op: int = ENDLOOP) -> Instruction:
    """ENDLOOP or ENDREP."""
    return jump(first, ALWAYS, op=op, jump_any=1, int_addr=constant)


def leave(after: int, levels: int, *, op: int = BREAKLOOP, function: int = ALWAYS) -> Instruction:
    """BREAK or CONTINUE of every active pixel, `levels` branches deep in the loop."""
    return jump(after, function, op=op, b_op1=DECR, b_pop_cnt=levels)


_IDENTITY = {f"dst_{name}_swiz": channel for channel, name in enumerate("rgba")}


def fetch(operation: TextureOperation = TextureOperation.LOOKUP, *, source: int = 0, destination: int = 1,
           unscaled: int = 1, swizzle: dict[str, int] | None = None, **fields: int) -> Instruction:  # fmt: skip
    """A fetch from input 0 at (S, T, R, Q) = (r, g, b, a) of `source`."""
    inst = {"inst": operation.value, "unscaled": unscaled, "tex_sem_acquire": 1}
    inst |= {name: fields.pop(name) for name in ("ignore_uncovered", "tex_id") if name in fields}
    addr = {
        "src_addr": source, "src_t_swiz": 1, "src_r_swiz": 2, "src_q_swiz": 3, "dst_addr": destination, **_IDENTITY,
        **(swizzle or {}),
    }  # fmt: skip
    return tex(inst=inst, addr=addr, **{"rgb_wmask": 7, "alpha_wmask": 1, "tex_sem_wait": 1, **fields})


def constant_into(temporary: int, index: int) -> Instruction:
    """r[temporary] = c[index]."""
    addresses = {"addr0": index, "addr0_const": 1}
    rgb = {**addresses, "rgb_op": RgbOperation.MIN.value, "rgb_addrd": temporary}
    rgb |= {f"{color}_swiz_{name}": channel for name in "ab" for channel, color in enumerate(("red", "green", "blue"))}
    alpha = {**addresses, "op": AlphaOperation.MIN.value, "swiz_a": 3, "swiz_b": 3, "addrd": temporary}
    return alu(rgb=rgb, alpha=alpha, rgb_wmask=7, alpha_wmask=1)

"""Random CF programs, most of whose words suit the stack's entries if none jumps."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ctm.tb.r700 import words
from ctm.tb.r700.flow.wavefront_model import Word

LOOPS = ("LOOP_START", "LOOP_START_DX10", "LOOP_START_NO_AL")
_PUSHES = ("PUSH", "PUSH_ELSE", "ALU_PUSH_BEFORE", "ALU_PUSH_BEFORE")
_POPS = ("POP", "ALU_POP_AFTER", "ALU_POP2_AFTER", "POP_JUMP", "POP_PUSH", "POP_PUSH_ELSE")
_PLAIN = ("NOP", *["ALU"] * 6, "TEX", "VTX", "VTX_TC_ACK", "JUMP", "KILL", "WAIT_ACK", "EXPORT", "MEM_EXPORT", "CALL")
_IN_BRANCH = ("ELSE", "ALU_ELSE_AFTER", *_POPS)
_IN_LOOP = ("LOOP_END", "LOOP_END", "LOOP_END", "LOOP_BREAK", "LOOP_CONTINUE", "ALU_BREAK", "ALU_CONTINUE")
_BY_TOP = {"branch": _IN_BRANCH * 2, "loop": _IN_LOOP * 2, "call": ("RETURN",) * 8 + ("CALL",) * 8}
_ALL = (*LOOPS, *_PUSHES, *_PLAIN, *_IN_BRANCH, *_IN_LOOP, "RETURN")
_CONDITIONS = ("BOOL", "BOOL", "NOT_BOOL", "NOT_BOOL", "FALSE")
CONSTANTS = (0, 1, 17)
"""Numbers of constants, in either line."""


def draw(generator: np.random.Generator, count: int) -> list[Word]:
    """A program of so many words."""
    nested: list[tuple[str, int]] = []
    program = []
    for index in range(count):
        top = nested[-1][0] if nested else ""
        names = (*_PLAIN, *_PUSHES, *LOOPS, *_BY_TOP.get(top, ()))
        name = str(generator.choice(names if generator.random() < 0.95 else _ALL))
        near = generator.random() < 0.9
        target = index + int(generator.integers(1, 5)) if near else int(generator.integers(count + 2))
        if name == "LOOP_END" and top == "loop":
            target = nested.pop()[1] + 1
        elif name in LOOPS:
            nested.append(("loop", index))
        elif name == "CALL" and generator.random() < 0.6:
            target = index + 1
            nested.append(("call", index))
        elif name == "RETURN" and top == "call":
            nested.pop()
        elif name in _PUSHES:
            nested.append(("branch", index))
        elif name in _POPS and top == "branch":
            nested.pop()
        program.append(_word(generator, name, target, "loop" in dict(nested)))
    return program


def _word(generator: np.random.Generator, name: str, target: int, in_loop: bool) -> Word:
    def chance(probability: float) -> bool:
        return bool(generator.random() < probability)

    is_alu, is_export, is_fetch = name.startswith("ALU"), name.endswith("EXPORT"), name[:3] in ("TEX", "VTX")
    pops = name in _POPS
    found = {
        "pop": 0 if name == "CALL" else int(pops) if chance(0.9) else int(generator.integers(3)),
        "cond": "ACTIVE" if is_fetch or name == "KILL" or chance(0.4) else str(generator.choice(_CONDITIONS)),
        "const": int(generator.choice(CONSTANTS)),
        "calls": int(generator.choice([1, 8, 16, 17])),
        "ends": chance(0.01),
        "valid_pixels": not is_alu and chance(0.3),
    }  # fmt: skip
    units = int(generator.integers(1, 9))
    if is_fetch:
        target, units = target & ~1, 2 * units
    if (is_alu or is_fetch) and chance(0.97):
        # Clauses may lie anywhere in the code.
        target, units = 2 * int(generator.integers(2)), min(units, 4)
    if is_alu or is_fetch:
        found["whole_quads"] = name != "ALU_PUSH_BEFORE" and not found["valid_pixels"] and chance(0.2)
    if is_alu or is_export:
        found |= {"pop": 0, "cond": "ACTIVE", "const": 0, "calls": 0, "ends": is_export and found["ends"]}
    relative = is_export and in_loop and chance(0.3)
    return Word(name=name, addr=target, units=units, relative=relative, **found)  # type: ignore[arg-type]


def units_of(word: Word) -> words.Unit:
    """A word's two dwords."""
    if word.starts == "alu":
        return words.alu_word(
            word.name, word.addr, word.units, kcache=[(2, 5), (1, 7)], whole_quad_mode=int(word.whole_quads)
        )  # fmt: skip
    common: dict[str, Any] = {"end_of_program": int(word.ends), "valid_pixel_mode": int(word.valid_pixels)}
    if word.starts == "export":
        make: Callable[..., words.Unit] = words.memory_export if word.name == "MEM_EXPORT" else words.export
        return make(1, 5, name=word.name, rw_rel=int(word.relative), **common)
    name, fields = word.name, {"call_count": word.calls, "whole_quad_mode": int(word.whole_quads), **common}
    if word.starts == "fetch":
        fields |= {"count": (word.units // 2 - 1) & 7, "count_3": (word.units // 2 - 1) >> 3}
    return words.word(name, word.addr, cond=word.cond, pop=word.pop, const=word.const, **fields)


def spoil(generator: np.random.Generator, word: Word) -> tuple[Word, words.Unit]:
    """A word that must not be executed, made of a legal one."""
    low, high = units_of(word)
    bits = [20] if not word.starts or word.starts == "fetch" else [25] if word.starts == "alu" else [30]
    if not word.starts:
        bits += [30]
    if word.starts == "fetch":
        bits += [8]
    illegal = Word(name=word.name, addr=word.addr, units=word.units, illegal=True)
    return illegal, (low, high ^ 1 << int(generator.choice(bits)) if word.name != "CALL" else high | 1)

"""Random words of ALU and OUTPUT instructions."""

import numpy as np

from ctm.rtl.isa.r5xx.instruction import WORDS
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import fields, pack

TEMPORARIES = 8
"""Those that the instructions use, and one more that the program does not have."""
WORDS_OF_ALU = WORDS[InstructionType.ALU]
# Codes as the reference has them, not as the declarations do.
_TRANSCENDENTAL, _DOT, _COPIES = range(8, 14), range(1, 4), {"rgb": (4, 5, 7, 8), "alpha": (2, 3, 5, 6)}


def random_words(generator: np.random.Generator) -> tuple[int, ...]:
    """A legal ALU or OUTPUT instruction; temporaries, constants and inline constants all occur."""
    values = [
        {name: int(generator.integers(1 << width)) for name, _, width in fields(layout)} for layout in WORDS_OF_ALU
    ]
    common, rgb_addr, alpha_addr, rgb, alpha, both = values
    common["type"] = int(generator.integers(2))
    for half in values:
        for name in half:
            if "swiz" in name or name.endswith("pred_sel"):
                half[name] = int(generator.integers(7 if "swiz" in name else 6))
    for half in (rgb_addr, alpha_addr):
        for source in range(3):
            kind = generator.integers(4)
            half[f"addr{source}_const"] = int(kind == 0)
            if kind > 1:
                half[f"addr{source}"] = int(generator.integers(TEMPORARIES + 1))
            elif kind == 1:
                half[f"addr{source}"] |= 0x80
                half[f"addr{source}_rel"] = 0
    alpha["addrd"], both["rgb_addrd"] = (int(generator.integers(TEMPORARIES + 1)) for _ in range(2))
    both["rgb_op"] = int(generator.choice([0, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]))
    legal = [0, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    legal = list(_TRANSCENDENTAL) if both["rgb_op"] == 10 else legal + [1, 1, 1] * (both["rgb_op"] in _DOT)
    alpha["op"] = int(generator.choice(legal))
    for half, operation, unit in ((rgb, both["rgb_op"], "rgb"), (alpha, alpha["op"], "alpha")):
        if operation not in _COPIES[unit]:
            half["omod"] = int(generator.choice([0, 0, 0, 1, 2, 3, 4, 5, 6]))
    return tuple(pack(layout, **half) for layout, half in zip(WORDS_OF_ALU, values, strict=True))

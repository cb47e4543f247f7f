"""What slot t is tested with beyond what every slot is."""

from collections.abc import Iterator, Sequence

import numpy as np

from ctm.rtl.isa.r700.limits import GROUP_SLOTS, TRANS_SLOT
from ctm.rtl.isa.r700.operations import OPERATIONS, Slots
from ctm.rtl.r700.border.lane import SLOT_OPERANDS
from ctm.tb.lib.operands import mixed_words
from ctm.tb.lib.words import Words
from ctm.tb.r700.lane.batches import integers
from ctm.tb.r700.lane.groups import NOP, Batch, Instruction

FUNCTIONS = tuple(
    operation.name
    for operation in OPERATIONS.values()
    if operation.slots is Slots.TRANS and operation.formula.startswith(("EXP", "LOG", "RECIP", "SQRT", "SIN", "COS"))
    if not operation.formula.endswith("INT")
)
CONVERSIONS = ("FLT_TO_INT", "FLT_TO_UINT", "INT_TO_FLT", "UINT_TO_FLT")
PRODUCTS = ("MULLO_INT", "MULHI_INT", "MULLO_UINT", "MULHI_UINT")
RECIPROCALS = ("RECIP_INT", "RECIP_UINT")


def trans_batches(names: Sequence[str], words: Words, others: Words) -> Iterator[Batch]:
    """Operations of slot t with these operands 0 and 1."""
    operands = np.zeros((len(words), GROUP_SLOTS, SLOT_OPERANDS), np.uint32)
    operands[:, TRANS_SLOT, 0], operands[:, TRANS_SLOT, 1] = words, others
    for name in names:
        operation = next(each for each in OPERATIONS.values() if each.name == name)
        yield Batch(slots=(*[NOP] * TRANS_SLOT, Instruction(operation=operation)), operands=operands)


def near_quotients(count: int, seed: int) -> Words:
    """Divisors whose quotient is an integer, almost."""
    generator = np.random.default_rng(seed)
    quotient = generator.integers(1, 1 << 24, count) >> generator.integers(0, 24, count)
    divisor = (1 << 32) // np.maximum(quotient, 1) + generator.integers(-2, 3, count)
    return np.where(generator.integers(0, 2, count) == 0, divisor, -divisor).astype(np.uint32)


def random_trans(count: int, seed: int) -> list[Batch]:
    """What only slot t does, with operands that matter to it."""
    words, others = integers(count, seed), integers(count, seed + 1)
    return [
        *trans_batches((*FUNCTIONS, *CONVERSIONS), mixed_words(count, seed), others),
        *trans_batches((*PRODUCTS, *CONVERSIONS), words, others),
        *trans_batches(RECIPROCALS, words, others),
        *trans_batches(RECIPROCALS, near_quotients(count, seed), others),
    ]

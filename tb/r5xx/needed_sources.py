"""The sources that an instruction needs, from the golden model's decoding."""

from ctm.rtl.isa.r5xx.opcodes import Presubtract
from ctm.sim.golden.r5xx.instruction import ALPHA, Alu
from ctm.sim.golden.r5xx.plan import plan


def needed(instruction: Alu) -> tuple[int, int, bool]:
    """Masks of the RGB and the alpha sources that the plan's rows read, and whether they read srcp."""
    masks, reads_srcp = [0, 0], False
    for block in plan(instruction):
        for row in (row for reading in block.readings for row in reading.rows if row.literal is None):
            unit = int(row.channel == ALPHA)
            if row.source is not None:
                masks[unit] |= 1 << row.source
                continue
            reads_srcp = True
            of_two = instruction.unit(row.channel).presubtract in (Presubtract.ADD, Presubtract.SUB)
            masks[unit] |= 0b11 if of_two else 0b01
    return masks[0], masks[1], reads_srcp

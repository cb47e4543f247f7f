"""R700 hazards: reads of what the rules do not promise to be there.

The model executes in order and so always reads the newest value; hardware need not. Clause temporaries keep their
values from clause to clause here, and lose them where wavefronts share them.
"""

from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY
from ctm.sim.golden.dpp.hazard import Hazards
from ctm.sim.golden.r700.instruction import FetchInstruction, Group, MemoryRead
from ctm.sim.golden.r700.state import Batch


def watch(batch: Batch, instruction: Group | FetchInstruction, hazards: Hazards) -> None:
    """Check the instruction that `batch` is about to execute."""
    texts = []
    if isinstance(instruction, Group):
        for register, channel in instruction.stale:
            name = f"T{register - FIRST_CLAUSE_TEMPORARY}.{'xyzw'[channel]}"
            texts.append(f"reads the clause temporary {name} (R{register}), which its clause has not written")
    elif isinstance(instruction, MemoryRead) and batch.outstanding:
        texts.append("reads memory while writes are outstanding: use an acknowledged write and WAIT_ACK")
    for text in texts:
        hazards.report(batch.control.pc, text, int(batch.i[0]), int(batch.j[0]))

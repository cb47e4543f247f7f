"""Uncached writes (UMRT): an OUTPUT that stores one 32-bit value at coordinates of its own.

Source: CTM Guide p. 31. R is the data, G and B are the coordinates, A is ignored. Lanes write in order, the last wins.
"""

import numpy as np

from ctm.rtl.isa.limits import CHANNELS, QUAD
from ctm.rtl.isa.r5xx.opcodes import UmrtTarget
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import write
from ctm.sim.golden.r5xx.alu import Result
from ctm.sim.golden.r5xx.instruction import Alu
from ctm.sim.golden.r5xx.state import Batch
from ctm.sim.golden.r5xx.writeback import gate
from ctm.sim.memory import Memory

_SHARED = (UmrtTarget.SAME_IDX.value, UmrtTarget.SAME_IDX_ACQUIRE.value)


def write_uncached(
    batch: Batch, instruction: Alu, results: dict[int, Result], memory: Memory, buffer: Buffer, *, enabled: bool
) -> tuple[Integers, Integers, Mask]:
    """Store the results of `instruction` in `buffer` (FLOAT32_1); `enabled` is channel 0 of the output mask.

    Returns
    -------
    x, y, stored
        Coordinates of the lanes [n], (0, 0) where no element is, and the lanes that stored something.
    """
    chosen = batch.covered & batch.valid_mask & enabled
    for channel in range(3):
        mask = gate(batch, instruction.common, channel)
        if mask is not None:
            chosen = chosen & mask
    data, column, row = (np.broadcast_to(results[channel].values, batch.size) for channel in range(3))
    column, row = np.floor(fp.flush_denormals(column)), np.floor(fp.flush_denormals(row))
    if instruction.rgb.target in _SHARED:
        column, row = _from_leader(batch, column), _from_leader(batch, row)
    exists = (column >= 0) & (column < buffer.width_limit) & (row >= 0) & (row < buffer.height_limit)
    chosen = chosen & exists
    lanes = np.flatnonzero(chosen)
    values = np.zeros((CHANNELS, lanes.size), np.float32)
    values[0] = data[lanes]
    x, y = np.where(exists, column, 0).astype(np.int64), np.where(exists, row, 0).astype(np.int64)
    write(memory, buffer, x[lanes], y[lanes], values, np.ones(values.shape, bool))
    return x, y, chosen


def _from_leader(batch: Batch, values: Floats) -> Floats:
    """Each quad's value of its lowest active covered lane (of lane 0 where there is none: nothing is written then)."""
    eligible = (batch.active & batch.covered).reshape(-1, QUAD)
    leader = eligible.argmax(axis=1)
    return np.repeat(values.reshape(-1, QUAD)[np.arange(leader.size), leader], QUAD)

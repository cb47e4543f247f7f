"""The local data share: every pixel writes its own dwords, and reads any.

Source: R700-Family Instruction Set Architecture, p. 35; docs/r700.md for what it leaves open.
"""

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.fetch import Multiplex
from ctm.rtl.isa.r700.limits import LDS_BANKS, LDS_ROW
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.r700.instruction import ShareRead, ShareWrite
from ctm.sim.golden.r700.registers import selected
from ctm.sim.golden.r700.state import Batch


def write(batch: Batch, instruction: ShareWrite, burst_index: int, words: Floats, executing: Mask) -> None:
    """Store register `burst_index` of the burst, [4, n]."""
    lane = np.arange(batch.size) % batch.lanes
    wavefront = np.arange(batch.size) // batch.lanes
    first = lane // LDS_BANKS * instruction.stride + instruction.index + LDS_ROW * burst_index
    dwords = batch.share.shape[0]
    for component, select in enumerate(instruction.selects):
        if select == ComponentSelect.MASK.value:
            continue
        dword = first + component
        chosen = np.flatnonzero(executing & (dword < dwords))
        values = selected(words, select).view(np.uint32)
        # Areas of pixels may overlap, but a row begins at a multiple of its size: only equal components meet.
        batch.share[dword[chosen], lane[chosen] % LDS_BANKS, wavefront[chosen]] = values[chosen]


def read(batch: Batch, instruction: ShareRead, burst_index: int, source: Floats) -> Floats:
    """The words that register `burst_index` of the burst gets, [4, n]; `source` holds the address."""
    bank = source[instruction.bank].view(np.uint32).astype(np.int64) % LDS_BANKS
    dword = (source[instruction.dword].view(np.uint32).astype(np.int64) + instruction.offset) % (1 << 32)
    if instruction.broadcast:
        bank, dword = _of_lowest(batch, bank), _of_lowest(batch, dword)
    dword = dword + LDS_ROW * burst_index
    if instruction.mux is Multiplex.WORD_SELECT:
        wanted = np.broadcast_to(dword, (CHANNELS, batch.size))
    else:
        wanted = dword // LDS_ROW * LDS_ROW + np.arange(CHANNELS)[:, None]
    if not batch.share.size:
        return np.zeros((CHANNELS, batch.size), np.float32)
    exists = wanted < batch.share.shape[0]
    wavefront = np.arange(batch.size) // batch.lanes
    found = batch.share[np.where(exists, wanted, 0), bank, wavefront]
    result: Floats = np.where(exists, found, np.uint32(0)).view(np.float32)
    return result


def _of_lowest(batch: Batch, values: Integers) -> Integers:
    """Each wavefront's value of its lowest active pixel, of pixel 0 where there is none."""
    lowest = batch.active.reshape(-1, batch.lanes).argmax(axis=1)
    return np.repeat(values.reshape(-1, batch.lanes)[np.arange(lowest.size), lowest], batch.lanes)

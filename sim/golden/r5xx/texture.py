"""Texture instructions: fetches through the memory controller, and kill.

Source: CTM Guide pp. 32-33. LODBIAS, LOD and DXDY behave as LOOKUP: there are no mip levels.
"""

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats, Integers
from ctm.sim.golden.dpp.constants import BusError
from ctm.sim.golden.dpp.inputs import Inputs
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import fetch_addresses, read_at
from ctm.sim.golden.r5xx.alu import Result
from ctm.sim.golden.r5xx.instruction import Tex
from ctm.sim.golden.r5xx.operands import temporary
from ctm.sim.golden.r5xx.state import Batch
from ctm.sim.golden.r5xx.writeback import gate, write_temporary


def kill(batch: Batch, instruction: Tex) -> bool:
    """Execute KILL_LT_0; whether any lane was killed. -0 counts as less than zero, and so do negative denormals."""
    before = np.count_nonzero(batch.valid_mask)
    number = temporary(batch, instruction.source)
    if number >= len(batch.clean):
        return False
    for channel in instruction.common.write_mask:
        values = batch.temporaries[number, channel]
        less = np.signbit(values) & ~np.isnan(values)
        mask = gate(batch, instruction.common, channel)
        batch.valid_mask &= ~(less if mask is None else less & mask)
    return bool(np.count_nonzero(batch.valid_mask) != before)


def fetch(batch: Batch, instruction: Tex, inputs: Inputs) -> list[Integers]:
    """Execute a fetch of any kind.

    Raises
    ------
    BusError
        A lane that fetches got an error response; nothing was changed. Active lanes fetch, with WRITE_INACTIVE all;
        with IGNORE_UNCOVERED only those that are covered too.

    Returns
    -------
    addresses
        Addresses that the lanes read: one array [n], four of a 2x2 fetch, none where the input has no elements.
    """
    buffer = inputs.buffers[instruction.input]
    number = temporary(batch, instruction.source)
    source = batch.temporaries[number] if number < len(batch.clean) else np.zeros((CHANNELS, batch.size), np.float32)
    if buffer.width_limit == 0:
        _write(batch, instruction, np.zeros((CHANNELS, batch.size), np.float32))
        return []
    x, y = _coordinates(source, instruction, buffer)
    addresses = fetch_addresses(buffer, x, y)
    fetching = np.full(batch.size, True) if instruction.common.write_inactive else batch.active
    fetching = fetching & batch.covered if instruction.ignore_uncovered else fetching
    for address in addresses:
        errors = inputs.memory.errors(address, buffer.element.element_bytes)
        if errors is not None and (errors & fetching).any():
            failed = errors & fetching
            raise BusError(BusClient.INPUT, int(address[failed.argmax()]), failed)
    uncached = instruction.operation is TextureOperation.LOOKUP_UNCACHED
    memory = inputs.memory if uncached else inputs.cached[instruction.input]
    if buffer.is_2x2:
        fetched = np.stack([read_at(memory, buffer, address)[0] for address in addresses])
    else:
        fetched = read_at(memory, buffer, addresses[0])
    _write(batch, instruction, fetched)
    return addresses


def _coordinates(source: Floats, instruction: Tex, buffer: Buffer) -> tuple[Integers, Integers]:
    s, t, _, q = (source[channel] for channel in instruction.source_swizzle)
    if instruction.operation is TextureOperation.LOOKUP_PROJ:
        reciprocal = fp.rcp(q)
        s, t = _scale(s, reciprocal), _scale(t, reciprocal)
    if not instruction.unscaled:
        s, t = _scale(s, np.float32(buffer.pitch)), _scale(t, np.float32(buffer.scale_height))
    return fp.coordinate_index(s, buffer.width_limit), fp.coordinate_index(t, buffer.height_limit)


def _scale(coordinate: Floats, factor: Floats | np.float32) -> Floats:
    return fp.multiply(coordinate, factor, zero_times_anything=False)


def _write(batch: Batch, instruction: Tex, fetched: Floats) -> None:
    common = instruction.common
    is_clean = not fp.has_denormal(fetched)
    for channel in common.write_mask:
        mask = gate(batch, common, channel, write_inactive=common.write_inactive)
        if instruction.ignore_uncovered:
            mask = batch.covered if mask is None else mask & batch.covered
        result = Result(fetched[instruction.destination_swizzle[channel]], is_clean)
        write_temporary(batch, instruction.destination, channel, result, mask)

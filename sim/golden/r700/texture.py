"""Texture instructions: fetches from inputs through the memory controller, and what neighbours in a quad differ in."""

import numpy as np

from ctm.rtl.isa.limits import CHANNELS, QUAD
from ctm.rtl.isa.r700.fetch import TextureOperation
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.dpp.constants import BusError
from ctm.sim.golden.dpp.inputs import Inputs
from ctm.sim.golden.mc.elements import clamp_index, fetch_addresses, read_at
from ctm.sim.golden.r700.instruction import Texture
from ctm.sim.golden.r700.registers import selected

_DIFFERENCES = {TextureOperation.GET_GRADIENTS_H: (3, 2), TextureOperation.GET_GRADIENTS_V: (2, 0)}
"""Lanes of a quad whose difference is the gradient of all four."""
_FAR = 2.0**20
"""Halves of texels: more than any input has."""
_NO_EFFECT = (TextureOperation.KEEP_GRADIENTS, TextureOperation.SET_GRADIENTS_H, TextureOperation.SET_GRADIENTS_V)


def fetch(
    instruction: Texture, source: Floats, inputs: Inputs, executing: Mask
) -> tuple[Floats, list[Integers]] | None:
    """Execute an instruction for all pixels; `source` [4, n] is the register that it reads.

    Returns
    -------
    components
        [4, n].
    addresses
        Of what the pixels read: one array [n], four of a 2x2 fetch; none if nothing is read.

    None instead of both if the instruction has no effect.

    Raises
    ------
    BusError
        A pixel in `executing` got an error response.
    """
    if instruction.operation in _NO_EFFECT:
        return None
    coordinates = [selected(source, select) for select in instruction.coordinates]
    if instruction.operation in _DIFFERENCES:
        return _gradient(coordinates, *_DIFFERENCES[instruction.operation]), []
    buffer = inputs.buffers[instruction.input]
    size = source.shape[1]
    if instruction.operation is TextureOperation.GET_TEXTURE_RESINFO:
        words = np.array([buffer.pitch, buffer.scale_height, 1, 1], np.uint32).view(np.float32)
        return np.repeat(words[:, None], size, axis=1), []
    if buffer.width_limit == 0:
        return np.zeros((CHANNELS, size), np.float32), []
    x = _index(instruction, 0, coordinates[0], buffer.pitch, buffer.width_limit)
    y = _index(instruction, 1, coordinates[1], buffer.scale_height, buffer.height_limit)
    return read_elements(inputs, instruction.input, x, y, executing)


def read_elements(
    inputs: Inputs, number: int, x: Integers, y: Integers, executing: Mask
) -> tuple[Floats, list[Integers]]:
    """The elements (x, y) [n] of an input as [4, n], and their addresses; see `fetch`."""
    buffer = inputs.buffers[number]
    addresses = fetch_addresses(buffer, x, y)
    for address in addresses:
        errors = inputs.memory.errors(address, buffer.element.element_bytes)
        if errors is not None and (errors & executing).any():
            failed = errors & executing
            raise BusError(BusClient.INPUT, int(address[failed.argmax()]), failed)
    memory = inputs.cached[number]
    if buffer.is_2x2:
        return np.stack([read_at(memory, buffer, address)[0] for address in addresses]), addresses
    return read_at(memory, buffer, addresses[0]), addresses


def _index(instruction: Texture, axis: int, coordinate: Floats, extent: int, limit: int) -> Integers:
    """The column or row of a fetch: coordinate times extent where normalised, plus the offset, floor, clamp."""
    if instruction.operation is TextureOperation.LD:
        halves = 2 * coordinate.view(np.int32).astype(np.int64)
    else:
        halves = _halves(instruction, axis, coordinate, extent)
    return clamp_index(halves + instruction.offsets[axis] >> 1, limit)


def _halves(instruction: Texture, axis: int, coordinate: Floats, extent: int) -> Integers:
    """Whole halves of texels below the coordinate. The floor of a sum with whole halves needs no more of it."""
    if instruction.normalised[axis]:
        coordinate = fp.multiply(coordinate, np.float32(extent), zero_times_anything=False)
    doubled = 2.0 * fp.flush_denormals(coordinate).astype(np.float64)
    # Anything beyond is outside of every input, whatever the offset.
    bounded = np.clip(np.nan_to_num(doubled, nan=0.0, posinf=_FAR, neginf=-_FAR), -_FAR, _FAR)
    result: Integers = np.floor(bounded).astype(np.int64)
    return result


def _gradient(coordinates: list[Floats], minuend: int, subtrahend: int) -> Floats:
    result = np.empty((CHANNELS, coordinates[0].size), np.float32)
    for component, values in zip(result, coordinates, strict=True):
        lanes = values.reshape(-1, QUAD)
        negated = fp.input_modifier(np.ascontiguousarray(lanes[:, subtrahend]), 1)
        component[...] = np.repeat(fp.add(np.ascontiguousarray(lanes[:, minuend]), negated), QUAD)
    return result

"""What a run needs, as the compiled code takes it: the structures of `memory_model.cc` and `loop.cc`."""

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.lib import data

from ctm.rtl.border.clients import BEAT_WORDS
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.formats import TILE_LOG2
from ctm.rtl.isa.limits import BOOL_CONSTANTS, CHANNELS, FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_WORDS
from ctm.rtl.r5xx.shapes import PROGRAM
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc import buffer
from ctm.sim.golden.mc.address import extent
from ctm.sim.memory import Memory

Integers = npt.NDArray[np.signedinteger]
WavefrontArrays = tuple[Integers, Integers, Integers, npt.NDArray[np.bool_]]
"""Order [n]; i, j and coverage [n * lanes]: what a run of the golden model adds."""
Range = tuple[int, int]

_BANKS = 3
_WORD_BITS = 32


class Buffer(ctypes.Structure):
    """A buffer with what follows from its format."""

    _fields_ = [
        (name, ctypes.c_uint32)
        for name in (
            "base", "pitch", "width", "height", "channels", "channel_bytes", "is_float", "is_tiled", "is_2x2",
            "tile_width_log2", "tile_height_log2",
        )
    ]  # fmt: skip

    @staticmethod
    def of(described: buffer.Buffer) -> "Buffer":
        """The structure of the golden model's buffer."""
        element = described.element
        return Buffer(
            described.base, described.pitch, described.width_limit, described.height_limit, element.channels,
            element.channel_bytes, element.is_float, described.is_tiled, described.is_2x2,
            *TILE_LOG2[element.element_bytes],
        )  # fmt: skip


class MemorySetup(ctypes.Structure):
    """The memory clients' state."""

    _fields_ = [
        ("start", ctypes.c_void_p),
        ("current", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
        ("error_count", ctypes.c_uint64),
        ("inputs", Buffer * INPUTS),
        ("outputs", Buffer * OUTPUTS),
        ("conditional", Buffer * 2),
        ("output_mask", ctypes.c_uint64),
        ("test", ctypes.c_uint64),
        ("writes_conditional", ctypes.c_uint64),
    ]


class RunSetup(ctypes.Structure):
    """A whole run."""

    _fields_ = [
        ("memory", MemorySetup),
        ("code", ctypes.c_void_p),
        ("instructions", ctypes.c_uint64),
        ("constants", ctypes.c_void_p * _BANKS),
        ("constant_error", ctypes.c_void_p * _BANKS),
        ("beats", ctypes.c_uint64 * _BANKS),
        ("program", ctypes.c_void_p),
        ("wavefront_i", ctypes.c_void_p),
        ("wavefront_j", ctypes.c_void_p),
        ("wavefront_covered", ctypes.c_void_p),
        *[
            (name, ctypes.c_uint64)
            for name in ("wavefronts", "latency", "jitter", "stall", "seed", "max_cycles", "is_traced")
        ],
    ]


class Arrays:
    """Arrays that compiled code reads: they live as long as this."""

    def __init__(self) -> None:
        self._kept: list[npt.NDArray[Any]] = []

    def pointer(self, values: Any, dtype: npt.DTypeLike) -> int:
        """The address of `values` as a contiguous array."""
        array = np.ascontiguousarray(values, dtype)
        self._kept.append(array)
        return int(array.ctypes.data)


def written_buffers(launch: Launch) -> list[buffer.Buffer]:
    """The buffers that a run may write."""
    return [*launch.outputs, *([launch.conditional.buffer] if launch.conditional.may_write_buffer else [])]


def ranges(buffers: Iterable[buffer.Buffer]) -> list[Range]:
    """The addresses [first, end) of all elements of some buffers; they wrap at 4 GiB."""
    limit = 1 << 32
    found = []
    for described in buffers:
        first, end = described.base, described.base + extent(described)
        found += [(first, end)] if end <= limit else [(first, limit), (0, end - limit)]
    return [(first, end) for first, end in found if first < end]


def copied(memory: Memory, ranges: Iterable[Range]) -> Memory:
    """A memory with the contents of `memory` in some ranges, 0 elsewhere."""
    result = Memory()
    for first, end in ranges:
        result.bytes[first:end] = memory.bytes[first:end]
    return result


def memory_setup(launch: Launch, current: Memory, arrays: Arrays) -> MemorySetup:
    """The state of the memory clients; reads of the start go to the launch's memory, the others to `current`."""
    # A memory gives error responses for single accesses only.
    error = launch.memory.error_ranges
    unit = launch.conditional
    return MemorySetup(
        start=launch.memory.bytes.ctypes.data,
        current=current.bytes.ctypes.data,
        error=arrays.pointer(error, np.uint64),
        error_count=len(error),
        inputs=(Buffer * INPUTS)(*map(Buffer.of, launch.inputs.buffers)),
        outputs=(Buffer * OUTPUTS)(*map(Buffer.of, launch.outputs[:OUTPUTS])),
        conditional=(Buffer * 2)(Buffer.of(unit.buffer)),
        output_mask=sum(enabled << channel for channel, enabled in enumerate(launch.output_mask)),
        test=unit.test.value,
        writes_conditional=unit.write_enabled,
    )


def run_setup(
    launch: Launch, current: Memory, wavefronts: Iterable[WavefrontArrays], arrays: Arrays, **given: int
) -> RunSetup:
    """Everything that a run needs; `given` are the timing's fields and limits."""
    setup = RunSetup(memory=memory_setup(launch, current, arrays), **given)
    code = np.array(launch.program.image.code, np.uint32).reshape(-1, INSTRUCTION_WORDS)
    setup.code, setup.instructions = arrays.pointer(code, np.uint32), len(code)
    _set_constants(setup, launch, arrays)
    setup.program = arrays.pointer(words_of(program_word(launch), PROGRAM.size), np.uint32)
    i, j, covered = _wavefronts(wavefronts, launch.lanes)
    setup.wavefronts = i.size
    setup.wavefront_i, setup.wavefront_j, setup.wavefront_covered = (
        arrays.pointer(x, np.uint32) for x in (i, j, covered)
    )
    return setup


def _wavefronts(wavefronts: Iterable[WavefrontArrays], lanes: int) -> tuple[Integers, Integers, Integers]:
    """Lane 0's pair and the coverage, as bits, of each wavefront that has a covered lane."""
    batches = [tuple(np.reshape(array, (-1, lanes)) for array in arrays) for _, *arrays in wavefronts]
    empty = np.zeros((0, lanes), np.int64)
    i, j, covered = (np.concatenate([empty, *(batch[field] for batch in batches)]) for field in range(3))
    bits = covered.astype(np.int64) @ (1 << np.arange(lanes))
    return i[bits > 0, 0], j[bits > 0, 0], bits[bits > 0]


def _set_constants(setup: RunSetup, launch: Launch, arrays: Arrays) -> None:
    """The three files of constants; a beat has an error response if any of its bytes has."""
    # Where constants lie is known to them only, and what they hold is less than what memory does.
    bases = launch.program.constants.bases
    sizes = (FLOAT_CONSTANTS * CHANNELS, INT_CONSTANTS, BOOL_CONSTANTS)
    for bank, (base, size) in enumerate(zip(bases, sizes, strict=True)):
        beat_bytes = 4 * BEAT_WORDS
        error = [launch.memory.has_error(base + beat_bytes * beat, beat_bytes) for beat in range(size // BEAT_WORDS)]
        setup.constants[bank] = arrays.pointer(launch.memory.words(base, size), np.uint32)
        setup.constant_error[bank] = arrays.pointer(error, np.uint8)
        setup.beats[bank] = len(error)


def program_word(launch: Launch) -> int:
    """The bits of the core's program port.

    Raises
    ------
    ValueError
        A value does not fit its field.
    """
    program = launch.program
    output = launch.outputs[0]
    values = {
        "size": len(program.image.code),
        "start": program.start,
        "end": program.end,
        "code_offset": program.code_offset,
        "highest_temporary": program.temporaries - 1,
        "zero_times_anything": int(program.zero_times_anything),
        "full_flow_control": int(program.full_flow_control),
        "conditional_from_program": int(program.conditional_from_program),
        "uncached_writes": int(program.uncached_writes),
        "tests": int(launch.conditional.location is ConditionalLocation.DPP),
        "conditional_value": int(np.float32(launch.conditional_value).view(np.uint32)),
        "watchdog": launch.watchdog,
        "inputs": [{"pitch": described.pitch, "height": described.scale_height} for described in launch.inputs.buffers],
        "output": _limits(output),
    }
    return _pack(PROGRAM, PROGRAM.size, values, "program")


def _limits(described: buffer.Buffer) -> dict[str, int]:
    return {"width": described.width_limit, "height": described.height_limit}


def _pack(shape: Any, width: int, values: Any, name: str) -> int:
    """The bits of a value; of structures it is a mapping, of arrays a list, and everything must be given."""
    if isinstance(shape, data.StructLayout | data.ArrayLayout):
        items = dict(values.items() if isinstance(values, Mapping) else enumerate(values))
        if items.keys() != {key for key, _ in shape}:
            raise ValueError(f"{name} must have {[key for key, _ in shape]}, not {list(items)}")
        return sum(_pack(field.shape, field.width, items[key], f"{name}.{key}") << field.offset for key, field in shape)
    if not 0 <= values < 1 << width:
        raise ValueError(f"{name} must be 0..{(1 << width) - 1}, not {values}")
    return int(values)


def words_of(value: int, bits: int) -> npt.NDArray[np.uint32]:
    """A number as 32-bit words, the lowest first."""
    count = -(-bits // _WORD_BITS)
    return np.frombuffer(value.to_bytes(4 * count, "little"), "<u4")

"""Elements of inputs, outputs and the conditional buffer, and words of memory: by their names, to look at or to set."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import ADDRESS_SPACE, WORD_BYTES
from ctm.sim.debug.error import DebugError, unknown
from ctm.sim.debug.views import FLOAT, SPELLINGS, Value
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import channel_bits, read
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.memory import Memory

CONDITIONAL = "conditional"
_BUFFER = re.compile(r"([io])(\d+)")
_ADDRESS = re.compile(r"\*\s*(0x[0-9a-fA-F]+|\d+)")
_ELEMENT = re.compile(r"(\w+)\s*\[\s*(\d+)\s*,\s*(\d+)\s*\]")


@dataclass(frozen=True)
class Store:
    """Bytes that are written to a memory from outside."""

    memory: Memory
    address: int
    data: bytes

    def swap(self) -> "Store":
        """Write them: what writes back what was there."""
        before = Store(self.memory, self.address, self.memory.read(self.address, len(self.data)))
        self.memory.write(self.address, self.data)
        return before


def buffer_names(launch: Launch[Any]) -> list[str]:
    """The buffers that a launch has."""
    own = () if isinstance(launch, ThreadLaunch) else launch.outputs
    found = [f"i{number}" for number, buffer in enumerate(launch.inputs.buffers) if buffer.pitch]
    found += [f"o{number}" for number, buffer in enumerate(own) if buffer.pitch]
    return found + [CONDITIONAL] * bool(launch.conditional.buffer.pitch)


def no_image(launch: Launch[Any], name: str) -> DebugError:
    """Of a name that is no buffer of a launch, or empty."""
    known = buffer_names(launch)
    if not known and isinstance(launch, ThreadLaunch):
        return DebugError(f"{launch.stage} has no image: the targets of a draw are those of its PS")
    return unknown("image", name, known) if name else DebugError(f"image takes one of: {', '.join(known) or 'none'}")


def buffer_of(launch: Launch[Any], name: str) -> tuple[Memory, Buffer]:
    """A buffer of a launch, ``i0``, ``o0`` or ``conditional``, and the memory it is read from; DebugError: none."""
    known = buffer_names(launch)
    if name not in known:
        raise no_image(launch, name)
    if name == CONDITIONAL:
        return launch.memory, launch.conditional.buffer
    match = _BUFFER.fullmatch(name)
    assert match is not None
    number = int(match[2])
    if match[1] == "o":
        return launch.memory, launch.outputs[number]
    return launch.inputs.cached[number], launch.inputs.buffers[number]


def image_of(launch: Launch[Any], name: str) -> npt.NDArray[np.float32]:
    """All elements of a buffer as programs read them, [height, width, channels], as far as it is wide."""
    memory, buffer = buffer_of(launch, name)
    y, x = np.mgrid[0 : buffer.height_limit, 0 : buffer.width_limit]
    values = read(memory, buffer, x.ravel(), y.ravel())[: buffer.element.channels]
    return np.ascontiguousarray(values.T).reshape(*x.shape, -1)


def element_value(launch: Launch[Any], name: str, coordinates: tuple[int, int], lanes: int) -> Value:
    """An element of a buffer at (i, j), the same for all lanes; DebugError: there is none."""
    memory, buffer = _inside(launch, name, coordinates)
    i, j = coordinates
    found = read(memory, buffer, np.array([i]), np.array([j]))[: buffer.element.channels]
    return Value(np.ascontiguousarray(np.repeat(found, lanes, axis=1)).view(np.uint32), FLOAT)


def word_value(launch: Launch[Any], address: int, lanes: int) -> Value:
    """The word of memory at an address, the same for all lanes; DebugError: it is none."""
    check_address(address, f"*{address:#x}")
    return Value(np.full((1, lanes), launch.memory.word(address), np.uint32), FLOAT)


def address_in(text: str) -> int | None:
    """The address that ``*0x1000`` is of; None: it is no such text."""
    match = _ADDRESS.fullmatch(text.strip())
    return None if match is None else int(match[1], 0)


def element_in(text: str) -> tuple[str, tuple[int, int]] | None:
    """The name and the (i, j) that ``o0[3,7]`` is of; None: it is no such text."""
    match = _ELEMENT.fullmatch(text.strip())
    return None if match is None else (match[1], (int(match[2]), int(match[3])))


def check_address(address: int, text: str) -> None:
    """DebugError: there is no word at the address that a text is of."""
    if not 0 <= address <= ADDRESS_SPACE - WORD_BYTES:
        raise DebugError(f"{text} is no address: there are 4 GiB")


def store_named(launch: Launch[Any], text: str, channel: str | None, word: int) -> Store | None:
    """What sets ``o0[3,7]`` or ``*0x1000`` to 32 bits; None: the text is no memory's.

    Elements of formats of integers take the number that the bits are as a float.

    Raises
    ------
    DebugError
        There is no such element, address or channel.
    """
    address = address_in(text)
    if address is not None:
        check_address(address, f"*{address:#x}")
        if channel is not None:
            raise DebugError(f"a word of memory has no channel {channel}")
        return Store(launch.memory, address, word.to_bytes(WORD_BYTES, "little"))
    element = element_in(text)
    if element is None:
        return None
    name, (i, j) = element
    memory, buffer = _inside(launch, name, (i, j))
    number = _channel(channel, buffer.element.channels)
    first = int(element_address(buffer, np.array([i]), np.array([j]))[0])
    bits = channel_bits(buffer, np.array([word], np.uint32).view(np.float32))
    return Store(memory, first + number * buffer.element.channel_bytes, bits.tobytes())


def _channel(name: str | None, count: int) -> int:
    if name is None:
        if count > 1:
            raise DebugError(f"the element has {count} channels: say which one, as in .x")
        return 0
    found = [spelling.find(name) for spelling in SPELLINGS if name in spelling]
    if not found or found[0] >= count:
        raise unknown("channel", name, list(SPELLINGS[0][:count]))
    return found[0]


def _inside(launch: Launch[Any], name: str, coordinates: Sequence[int]) -> tuple[Memory, Buffer]:
    memory, buffer = buffer_of(launch, name)
    if coordinates[0] >= buffer.width_limit or coordinates[1] >= buffer.height_limit:
        size = f"{buffer.width_limit} x {buffer.height_limit}"
        raise DebugError(f"{name} has no element ({coordinates[0]}, {coordinates[1]}): it is {size}")
    return memory, buffer

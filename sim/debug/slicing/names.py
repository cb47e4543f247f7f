"""What places are called, and what they hold, as the manuals and the disassembler write it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT, TILE_LOG2
from ctm.rtl.isa.limits import ADDRESS_SPACE, CHANNELS, WORD_BYTES
from ctm.sim.debug.error import unknown
from ctm.sim.debug.numbers import CHANNELS as CHANNEL_NAMES
from ctm.sim.debug.slicing.place import (
    ALL_LANES,
    BOOLS,
    FLOATS,
    FRAMES,
    INTS,
    ITEMS,
    MEMORY,
    PRIMITIVE,
    RING,
    SHARE,
    Place,
)
from ctm.sim.debug.views import SPELLINGS, View
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.inputs import ranges
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import TILE_BYTES, element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import read_at
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.memory import Memory

_FRAME_ROWS = {"r5xx": ("entered", "broken", "continued"), "r700": ("branch", "continue", "break", "entered")}
_ARRAYS = {
    "r5xx": {"p": "predicates", "alu_result": "alu_result", "counter": "counter", "conditional": "conditional"},
    "r700": {"AR": "address", "predicate": "predicate", "conditional": "conditional"},
}
"""Names of arrays beside the registers."""
_UNNAMED = ("covered", "written")
"""Masks that are no state of the program."""
_MASK = "_mask"
_SMALL = 1 << 23
"""Below it are denormal floats, which are integers as a rule."""
_PV_PS = CHANNELS
"""The place of PS behind the channels of PV."""


@dataclass(frozen=True)
class Names:
    """Those of a program's places; lanes are said where they are not `lane`."""

    view: View
    launch: Launch[Any]
    lane: int
    drawn: Callable[[int], str] | None = None
    """Of a draw's pixel program: what the vertex of the primitive behind a bank is called."""
    ringed: Callable[[int, bool], str] | None = None
    """Of another program of a draw: what a dword of the ring is called that it reads, or, if that is so, writes."""

    def places(self, batch: Batch[Any], text: str) -> list[Place]:
        """The places of a register, one of its channels, or a mask in this lane, by name; DebugError: there is none."""
        name, _, channel = text.strip().partition(".")
        found = [(place, spelling) for place, spelling in self._all(batch, name)]
        if not found:
            raise unknown("register", name, self._known(batch))
        chosen = [place for place, spelling in found if not channel or channel in spelling]
        if not chosen:
            spelling = CHANNEL_NAMES[self.view.kind]
            raise unknown("channel", channel, [spelling[number] for number in range(len(found))])
        return chosen

    def name(self, place: Place) -> str:
        """What a place is called."""
        text = self._name(place)
        return text if place.lane in (ALL_LANES, self.lane) else f"{text} of lane {place.lane}"

    def word(self, place: Place, word: Any) -> str:
        """What it holds, for people."""
        if place.array == MEMORY:
            return self._element(place, word)
        if isinstance(word, np.bool_ | bool):
            return str(int(word))
        if place.array in ("temporaries", "outputs", "previous", "conditional", FLOATS, PRIMITIVE):
            return _float_text(int(word))
        if place.array == INTS:
            return f"{word.count} rounds from {word.start} by {word.step}"
        return str(int(word))

    # Inside.

    def _known(self, batch: Batch[Any]) -> list[str]:
        """The names that have places."""
        names = [*self.view.names(batch), *_ARRAYS[self.view.kind], *batch.LANE_ARRAYS]
        found = (name.removesuffix(_MASK) for name in names)
        return [name for name in dict.fromkeys(found) if next(self._all(batch, name), None) is not None]

    def _all(self, batch: Batch[Any], name: str) -> Iterator[tuple[Place, tuple[str, ...]]]:
        """Places of a name, each with the spellings of its channel."""
        spellings = list(zip(*SPELLINGS, strict=True))
        number = self.view.register(batch, name)
        if number is not None:
            for channel in range(CHANNELS):
                yield Place("temporaries", (number, channel), self.lane), spellings[channel]
        elif self.view.kind == "r700" and name in ("PV", "PS"):
            for channel in range(CHANNELS) if name == "PV" else [_PV_PS]:
                yield Place("previous", (channel,), self.lane), spellings[channel % CHANNELS] if name == "PV" else ()
        else:
            masks = {mask.removesuffix(_MASK): mask for mask in batch.LANE_ARRAYS if getattr(batch, mask).dtype == bool}
            array = (masks | _ARRAYS[self.view.kind]).get(name)
            if array is None or array in _UNNAMED:
                return
            shape = getattr(batch, array).shape[:-1]
            for index in np.ndindex(*shape):
                yield Place(array, index, self.lane), spellings[index[0]] if index else ()

    def _name(self, place: Place) -> str:
        channels = CHANNEL_NAMES[self.view.kind]
        index = place.index
        if place.array == "temporaries":
            return f"{self.view.register_name(self.launch.program.temporaries, index[0])}.{channels[index[1]]}"
        if place.array in ("outputs", "written"):
            text = f"o{self.launch.program.outputs[index[0]]}.{channels[index[1]]}"
            return text if place.array == "outputs" else f"{text} is written"
        if place.array == "previous":
            return f"PV.{channels[index[0]]}" if index[0] < _PV_PS else "PS"
        if place.array == FRAMES:
            return f"mask {_FRAME_ROWS[self.view.kind][index[1]]} of stack entry {index[0]}"
        if place.array == SHARE:
            return f"share dword {index[0]} of bank {index[1]}"
        if place.array == MEMORY:
            return self._element_name(place)
        if place.array == PRIMITIVE:
            bank, row, channel = index
            assert self.drawn is not None
            return f"CB{bank}[{row}].{channels[channel]} ({self.drawn(bank)})"
        if place.array in (INTS, BOOLS):
            return f"{place.array[0]}{index[0]}"
        if place.array == FLOATS:
            return f"{self.view.constants}{index[0]}.{channels[index[1]]}"
        arrays = {array: name for name, array in _ARRAYS[self.view.kind].items()}
        name = arrays.get(place.array, place.array.removesuffix(_MASK))
        return f"{name}.{channels[index[0]]}" if index else name

    def _element_name(self, place: Place) -> str:
        address, _, number = place.index
        if number in (RING, ITEMS):
            assert self.ringed is not None
            return self.ringed(address // WORD_BYTES, number == ITEMS)
        if number < 0:
            buffer_name = self._vertex_buffer(address)
            if buffer_name is not None:
                return buffer_name
            for output in self.launch.program.uncached_outputs:
                buffer = self.launch.outputs[output]
                if any(first <= address < end for first, end in ranges(buffer)):
                    x, y = element_at(buffer, address)
                    return f"o{output}[{x},{y}]"
            return f"memory 0x{address:08x}"
        x, y = element_at(self.launch.inputs.buffers[number], address)
        return f"input {number} ({x}, {y})"

    def _vertex_buffer(self, address: int) -> str | None:
        """What a word of memory is called that a program of a draw fetches for vertices."""
        buffers = self.launch.buffers if isinstance(self.launch, ThreadLaunch) else ()
        for number, buffer in enumerate(buffers):
            byte = address - buffer.address
            if 0 <= byte < buffer.size:
                element, rest = divmod(byte, buffer.stride) if buffer.stride else (0, byte)
                return f"vertex buffer {number} (element {element}, byte {rest})"
        return None

    def _element(self, place: Place, word: bytes) -> str:
        number = place.index[2]
        if number < 0:
            return _float_text(int.from_bytes(word, "little"))
        buffer = self.launch.inputs.buffers[number]
        memory = Memory()
        memory.write(0, word)
        values = read_at(memory, buffer, np.zeros(1, np.int64))[: buffer.element.channels, 0]
        return " ".join(f"{value:.9g}" for value in values)


def element_at(buffer: Buffer, address: int) -> tuple[int, int]:
    """The coordinates of the element at a byte address, which is one of the buffer's."""
    size, offset, height = buffer.element.element_bytes, (address - buffer.base) % ADDRESS_SPACE, 1
    if buffer.is_tiled:
        width_log2, height_log2 = TILE_LOG2[size]
        height = 1 << height_log2
        first = offset // ((buffer.pitch >> width_log2) * TILE_BYTES) * height
    else:
        first = offset // max(1, buffer.pitch * size // LINEAR_ROW_ALIGNMENT * LINEAR_ROW_ALIGNMENT)
    y, x = np.mgrid[first : min(first + height, buffer.height_limit), 0 : buffer.width_limit]
    found = int(np.flatnonzero(element_address(buffer, x.ravel(), y.ravel()) == address)[0])
    return int(x.ravel()[found]), int(y.ravel()[found])


def _float_text(word: int) -> str:
    value = np.array(word, np.uint32).view(np.float32)
    # What is no plausible float is an integer, or a mask.
    if word < _SMALL:
        return str(word)
    if np.isnan(value) or (value != 0 and not 1e-30 < abs(value) < 1e30):
        return f"0x{word:08x}"
    return f"{value:.9g}"

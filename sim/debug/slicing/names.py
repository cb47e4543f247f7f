"""What cells are called, and what they hold, as the manuals and the disassembler write it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT, TILE_LOG2
from ctm.rtl.isa.limits import ADDRESS_SPACE, CHANNELS, WORD_BYTES
from ctm.sim.debug.error import unknown
from ctm.sim.debug.numbers import CHANNELS as CHANNEL_NAMES
from ctm.sim.debug.slicing.cell import (
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
    Cell,
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
"""The index of PS after the channels of PV."""


@dataclass(frozen=True)
class Names:
    """Those of a program's cells; lanes are said where they are not `lane`."""

    view: View
    launch: Launch[Any]
    lane: int
    drawn: Callable[[int], str] | None = None
    """Of a draw's pixel program: what the primitive's vertex of a bank is called."""
    ringed: Callable[[int, bool], str] | None = None
    """Of another program of a draw: what a dword of the ring is called that it reads, or, if that is so, writes."""

    def cells(self, batch: Batch[Any], text: str) -> list[Cell]:
        """The cells of a register, one of its channels, or a mask in this lane, by name; DebugError: there is none."""
        name, _, channel = text.strip().partition(".")
        found = [(cell, spelling) for cell, spelling in self._all(batch, name)]
        if not found:
            raise unknown("register", name, self._known(batch))
        chosen = [cell for cell, spelling in found if not channel or channel in spelling]
        if not chosen:
            spelling = CHANNEL_NAMES[self.view.kind]
            raise unknown("channel", channel, [spelling[number] for number in range(len(found))])
        return chosen

    def name(self, cell: Cell) -> str:
        """What a cell is called."""
        text = self._name(cell)
        return text if cell.lane in (ALL_LANES, self.lane) else f"{text} of lane {cell.lane}"

    def word(self, cell: Cell, word: Any) -> str:
        """What it holds, for people."""
        if cell.array == MEMORY:
            return self._element(cell, word)
        if isinstance(word, np.bool_ | bool):
            return str(int(word))
        if cell.array in ("temporaries", "outputs", "previous", "conditional", FLOATS, PRIMITIVE):
            return _float_text(int(word))
        if cell.array == INTS:
            return f"{word.count} rounds from {word.start} by {word.step}"
        return str(int(word))

    # Inside.

    def _known(self, batch: Batch[Any]) -> list[str]:
        """The names that have cells."""
        names = [*self.view.names(batch), *_ARRAYS[self.view.kind], *batch.LANE_ARRAYS]
        found = (name.removesuffix(_MASK) for name in names)
        return [name for name in dict.fromkeys(found) if next(self._all(batch, name), None) is not None]

    def _all(self, batch: Batch[Any], name: str) -> Iterator[tuple[Cell, tuple[str, ...]]]:
        """Cells of a name, each with the spellings of its channel."""
        spellings = list(zip(*SPELLINGS, strict=True))
        number = self.view.register(batch, name)
        if number is not None:
            for channel in range(CHANNELS):
                yield Cell("temporaries", (number, channel), self.lane), spellings[channel]
        elif self.view.kind == "r700" and name in ("PV", "PS"):
            for channel in range(CHANNELS) if name == "PV" else [_PV_PS]:
                yield Cell("previous", (channel,), self.lane), spellings[channel % CHANNELS] if name == "PV" else ()
        else:
            masks = {mask.removesuffix(_MASK): mask for mask in batch.LANE_ARRAYS if getattr(batch, mask).dtype == bool}
            array = (masks | _ARRAYS[self.view.kind]).get(name)
            if array is None or array in _UNNAMED:
                return
            shape = getattr(batch, array).shape[:-1]
            for index in np.ndindex(*shape):
                yield Cell(array, index, self.lane), spellings[index[0]] if index else ()

    def _name(self, cell: Cell) -> str:
        channels = CHANNEL_NAMES[self.view.kind]
        index = cell.index
        if cell.array == "temporaries":
            return f"{self.view.register_name(self.launch.program.temporaries, index[0])}.{channels[index[1]]}"
        if cell.array in ("outputs", "written"):
            text = f"o{self.launch.program.outputs[index[0]]}.{channels[index[1]]}"
            return text if cell.array == "outputs" else f"{text} is written"
        if cell.array == "previous":
            return f"PV.{channels[index[0]]}" if index[0] < _PV_PS else "PS"
        if cell.array == FRAMES:
            return f"mask {_FRAME_ROWS[self.view.kind][index[1]]} of stack entry {index[0]}"
        if cell.array == SHARE:
            return f"share dword {index[0]} of bank {index[1]}"
        if cell.array == MEMORY:
            return self._element_name(cell)
        if cell.array == PRIMITIVE:
            bank, row, channel = index
            assert self.drawn is not None
            return f"CB{bank}[{row}].{channels[channel]} ({self.drawn(bank)})"
        if cell.array in (INTS, BOOLS):
            return f"{cell.array[0]}{index[0]}"
        if cell.array == FLOATS:
            return f"{self.view.constants}{index[0]}.{channels[index[1]]}"
        arrays = {array: name for name, array in _ARRAYS[self.view.kind].items()}
        name = arrays.get(cell.array, cell.array.removesuffix(_MASK))
        return f"{name}.{channels[index[0]]}" if index else name

    def _element_name(self, cell: Cell) -> str:
        address, _, number = cell.index
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
                element, offset = divmod(byte, buffer.stride) if buffer.stride else (0, byte)
                return f"vertex buffer {number} (element {element}, byte {offset})"
        return None

    def _element(self, cell: Cell, word: bytes) -> str:
        number = cell.index[2]
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

"""Images: rectangles of elements in the machine's memory, written from and read into numpy arrays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import ELEMENTS, DataFormat
from ctm.sim.golden.mc.address import element_address
from ctm.sim.memory import Memory
from ctm.sim.runtime.layout import Layout

_TYPES = {1: np.uint8, 2: np.uint16, 4: np.float32}
_BAND = 1 << 18
"""Elements whose addresses are computed together."""


def element_type(data_format: DataFormat) -> npt.DTypeLike:
    """The numpy type of a format's channels: float32, uint16 or uint8."""
    return _TYPES[ELEMENTS[data_format].channel_bytes]


@dataclass(frozen=True, kw_only=True)
class Image:
    """Elements in memory. Arrays are [height, width, channels] of the format's own type; bits pass unchanged."""

    memory: Memory
    base: int
    layout: Layout

    @property
    def channels(self) -> int:
        """Channels of an element."""
        return ELEMENTS[self.layout.format].channels

    def at(self, base: int) -> "Image":
        """The same layout at another address."""
        return replace(self, base=base)

    def write(self, values: npt.ArrayLike) -> None:
        """Store `values`, [height, width, channels] or [height, width] where there is one channel, in any byte order.

        Columns that only the pitch adds repeat the last element, so that a fetch clamped to the pitch reads the edge.

        Raises
        ------
        ValueError
            The shape or the type is not that of the image.
        """
        array = np.asarray(values)
        layout, wanted = self.layout, np.dtype(element_type(self.layout.format))
        if array.ndim == 2 and self.channels == 1:
            array = array[:, :, None]
        found, fits = array.dtype.newbyteorder("="), array.shape == (layout.height, layout.width, self.channels)
        if not fits or found != wanted:
            fix = f": convert it with .astype(np.{wanted})" if fits else ""
            raise ValueError(
                f"{layout.format.name} of {layout.width} x {layout.height} takes {wanted} "
                f"[{layout.height}, {layout.width}, {self.channels}], not {found} {list(array.shape)}{fix}"
            )
        rows_in_order = self._rows
        if rows_in_order is not None:
            rows_in_order[:, : layout.width] = array
            rows_in_order[:, layout.width :] = array[:, -1:]
            return
        padding = layout.pitch - layout.width
        for rows, indices in self._bands(layout.pitch):
            self._elements[indices] = np.pad(array[rows], ((0, 0), (0, padding), (0, 0)), mode="edge")

    def read(self) -> npt.NDArray[np.generic]:
        """The elements, [height, width, channels]."""
        layout, elements = self.layout, self._elements
        rows_in_order = self._rows
        if rows_in_order is not None:
            return rows_in_order[:, : layout.width].copy()
        result = np.empty((layout.height, layout.width, self.channels), elements.dtype)
        for rows, indices in self._bands(layout.width):
            result[rows] = elements[indices]
        return result

    def write_rectangle(self, values: npt.NDArray[np.generic], i: int, j: int) -> None:
        """Store `values` [height, width, channels], of the format's own type, from the element (i, j) on.

        Columns that only the pitch adds repeat the image's last one, if that is among them, as `write` does.
        """
        height, width = values.shape[:2]
        if i + width == self.layout.width:
            width = self.layout.pitch - i
            values = np.pad(values, ((0, 0), (0, width - values.shape[1]), (0, 0)), mode="edge")
        rows_in_order = self._rows
        if rows_in_order is not None:
            rows_in_order[j : j + height, i : i + width] = values
            return
        for rows, indices in self._bands(width, (i, j), height):
            self._elements[indices] = values[rows]

    def read_rectangle(self, i: int, j: int, width: int, height: int) -> npt.NDArray[np.generic]:
        """The elements of `width` columns and `height` rows from (i, j) on, [height, width, channels]."""
        rows_in_order = self._rows
        if rows_in_order is not None:
            return rows_in_order[j : j + height, i : i + width].copy()
        result = np.empty((height, width, self.channels), self._elements.dtype)
        for rows, indices in self._bands(width, (i, j), height):
            result[rows] = self._elements[indices]
        return result

    def _repr_png_(self) -> bytes | None:
        """The picture of a notebook; None where the elements are none."""
        # Pillow takes long to import, and most programs show nothing.
        from ctm.sim.runtime.png import picture_of, png

        found = picture_of(self.read())
        return None if found is None else png(found[0])

    @property
    def _rows(self) -> npt.NDArray[np.generic] | None:
        """All elements as [height, pitch, channels] where they lie in this order: much faster than index by index."""
        layout = self.layout
        first = self.base // ELEMENTS[layout.format].element_bytes
        elements = self._elements[first : first + layout.height * layout.pitch]
        is_whole = len(elements) == layout.height * layout.pitch
        return None if layout.is_tiled or not is_whole else elements.reshape(layout.height, layout.pitch, -1)

    @property
    def _elements(self) -> npt.NDArray[np.generic]:
        kind = np.dtype(element_type(self.layout.format))
        return self.memory.view(kind).reshape(-1, self.channels)

    def _bands(
        self, columns: int, start: tuple[int, int] = (0, 0), height: int | None = None
    ) -> Iterator[tuple[slice, npt.NDArray[np.signedinteger]]]:
        """Some rows after the others, and where their elements are: indices take several times an image's space.

        Rows and columns count from the element `start`, (i, j); there are `height` rows, the image's if it is None.
        """
        layout, (i, j) = self.layout, start
        height = layout.height if height is None else height
        step = max(1, _BAND // columns)
        for first in range(0, height, step):
            rows = slice(first, min(first + step, height))
            y, x = np.mgrid[rows, 0:columns]
            yield rows, element_address(layout.at(self.base), x + i, y + j) // ELEMENTS[layout.format].element_bytes

"""The pane of an image: its elements as half blocks, two in a character, and the pixel of the lane."""

from functools import lru_cache
from typing import Any

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.events import Click, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ctm.sim.debug.images.elements import buffer_of
from ctm.sim.debug.images.picture import Colours, picture, pictured
from ctm.sim.debug.session import Session
from ctm.sim.golden.dpp.launch import Launch

_Colour = tuple[int, int, int]
_UPPER = "▀"
_CURSOR, _BEYOND = (255, 0, 255), (24, 24, 24)
_NOWHERE = -1, -1
_MOST = 16
"""Half blocks that a pixel is wide and high at most."""
_HOLLOW = 4
"""From so many on, what marks a pixel is a frame."""


@lru_cache(4096)
def _segment(upper: _Colour, lower: _Colour) -> Segment:
    return Segment(_UPPER, Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower)))


def _is_edge(x: int, y: int, zoom: int) -> bool:
    """Whether a half block is at the edge of its pixel, whose own colour is to be seen if it is large."""
    return zoom < _HOLLOW or not all(0 < at < zoom - 1 for at in (x, y))


def title_of(name: str) -> str:
    """What an image is called above it."""
    kind = {"o": "Output", "i": "Input"}.get(name[0])
    return "Conditional buffer" if kind is None else f"{kind} {name[1:]}"


class ImagePane(Widget, can_focus=True):
    """The section of an image around a pixel; a click goes to another pixel's wavefront."""

    BINDINGS = [
        Binding("left", "pan(-1, 0)", "Left", show=False), Binding("right", "pan(1, 0)", "Right", show=False),
        Binding("up", "pan(0, -1)", "Up", show=False), Binding("down", "pan(0, 1)", "Down", show=False),
        Binding("o", "image", "Next image", show=False),
    ]  # fmt: skip

    class Chosen(Message):
        """A pixel was chosen."""

        def __init__(self, i: int, j: int) -> None:
            super().__init__()
            self.i, self.j = i, j

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.border_title = "Output"
        self._launch: Launch[Any] | None = None
        self._at = 0, 0
        self._corner = _NOWHERE
        self._number = 0
        self._colours: Colours | None = None

    def update_from(self, session: Session) -> None:
        """Show what the launch wrote so far, with the pixel of the lane in sight."""
        batch, lane = session.wavefront.batch, session.lane
        self._launch, self._at = session.started.launch, (int(batch.i[lane]), int(batch.j[lane]))
        self._to_pixel()
        self.update_output()

    def update_output(self) -> None:
        """Show what memory holds now, when the job has ended, too."""
        if self._launch is None:
            return
        names = pictured(self._launch)
        if not names or not self.content_size:
            self._colours = None
        else:
            name = names[self._number % len(names)]
            (i0, j0), (columns, rows) = self._corner, self._shape
            self._colours = picture(*buffer_of(self._launch, name), range(i0, i0 + columns), range(j0, j0 + rows))
            extent = f"({i0}, {j0}) to ({min(i0 + columns, self._end[0]) - 1}, {min(j0 + rows, self._end[1]) - 1})"
            self.border_title = title_of(name)
            self.border_subtitle = f"{extent}, at {self._at}"
        self.refresh()

    @property
    def _start(self) -> tuple[int, int]:
        assert self._launch is not None
        return self._launch.domain.i0, self._launch.domain.j0

    @property
    def _end(self) -> tuple[int, int]:
        assert self._launch is not None
        return self._launch.domain.i1 + 1, self._launch.domain.j1 + 1

    @property
    def zoom(self) -> int:
        """Half blocks that a pixel is wide and high."""
        width, height = self.content_size.width, 2 * self.content_size.height
        sides = (end - start for start, end in zip(self._start, self._end, strict=True))
        return max(1, min(_MOST, *(space // side for space, side in zip((width, height), sides, strict=True))))

    @property
    def _shape(self) -> tuple[int, int]:
        """Columns and rows of pixels for which there is space."""
        return self.content_size.width // self.zoom, 2 * self.content_size.height // self.zoom

    def _to_pixel(self) -> None:
        """Move what is seen, if the pixel is not in it."""
        corner = []
        for at, start, end, first, space in zip(
            self._at, self._start, self._end, self._corner, self._shape, strict=True
        ):
            if end - start <= space:
                first = start
            elif not first <= at < first + space or not start <= first <= end - space:
                first = min(max(start, at - space // 2), end - space)
            corner.append(first)
        self._corner = corner[0], corner[1]

    def on_resize(self, event: Resize) -> None:
        """More or less is seen."""
        if self._launch is not None and event.size:
            # What was chosen for another size, or for none, is nothing for this one.
            self._corner = _NOWHERE
            self._to_pixel()
            self.update_output()

    def render_line(self, y: int) -> Strip:
        """See `Widget`."""
        width = self.content_size.width
        if self._colours is None:
            text = "the program has no image" if y == 0 else ""
            return Strip([Segment(text)]).crop_extend(0, width, self.rich_style)
        halves = (self._half(half, width) for half in (2 * y, 2 * y + 1))
        return Strip([_segment(upper, lower) for upper, lower in zip(*halves, strict=True)])

    def _half(self, half: int, width: int) -> list[_Colour]:
        """The colours of a row of half blocks."""
        assert self._colours is not None
        zoom, (i0, j0), (i1, j1) = self.zoom, self._corner, self._end
        row = half // zoom
        rows, columns = self._colours.shape[:2]
        there = min(columns, i1 - i0) if row < min(rows, j1 - j0) else 0
        found: list[_Colour] = []
        for red, green, blue in self._colours[row, :there].tolist() if there else []:
            found += [(red, green, blue)] * zoom
        found += [_BEYOND] * (width - len(found))
        if there and row == self._at[1] - j0:
            first = (self._at[0] - i0) * zoom
            for x in range(max(0, first), min(first + zoom, width)):
                if _is_edge(x - first, half % zoom, zoom):
                    found[x] = _CURSOR
        return found[:width]

    def on_click(self, event: Click) -> None:
        """The pixel under the pointer is chosen."""
        at = event.get_content_offset(self)
        if at is None or self._launch is None:
            return
        i, j = self._corner[0] + at.x // self.zoom, self._corner[1] + 2 * at.y // self.zoom
        if i < self._end[0] and j < self._end[1]:
            self.post_message(self.Chosen(i, j))

    def action_pan(self, columns: int, rows: int) -> None:
        """Show what lies beside."""
        if self._launch is None:
            return
        corner = []
        steps = zip((columns, rows), self._corner, self._start, self._end, self._shape, strict=True)
        for step, first, start, end, space in steps:
            corner.append(max(start, min(first + step * max(1, space // 4), end - space)))
        self._corner = corner[0], corner[1]
        self.update_output()

    def action_image(self) -> None:
        """Show the next image of the launch."""
        self._number += 1
        self.update_output()
        # A smaller terminal has no space for titles.
        self.notify(str(self.border_title), timeout=2)

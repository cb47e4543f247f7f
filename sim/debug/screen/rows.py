"""A pane of rows, one of which a key or a click chooses."""

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text
from textual.binding import Binding
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

_CURSOR, _HERE = Style(bgcolor="#505050"), Style(bgcolor="#3a3f1a")

GUTTER = 6
"""Columns in front of the text of a row: marks and a number."""


class Rows(ScrollView, can_focus=True):
    """Rows of text; `here` is the one that is marked, `cursor` the one that keys choose."""

    BINDINGS = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("enter,space,b", "choose", "Break", show=False),
    ]

    class Chosen(Message):
        """A row was chosen."""

        def __init__(self, pane: "Rows", row: int) -> None:
            super().__init__()
            self.pane, self.row = pane, row

    def __init__(self, title: str, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.border_title = title
        self._rows: Sequence[Text] = []
        self.here: int | None = None
        self.cursor = 0

    def show(self, rows: Sequence[Text], here: int | None = None, seen: int | None = None) -> None:
        """Show other rows, of which `here` is marked, and `seen` (or else `here`) is to be seen."""
        self._rows, self.here = rows, here
        seen = here if seen is None else seen
        self.virtual_size = Size(max((row.cell_len for row in rows), default=0), len(rows))
        if seen is not None:
            self.cursor = seen
            self.call_after_refresh(self._to_cursor, centre=True)
        self.cursor = min(self.cursor, max(0, len(rows) - 1))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """See `ScrollView`."""
        left, top = self.scroll_offset
        index, width = top + y, self.scrollable_content_region.width
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        strip = Strip(self._rows[index].render(self.app.console)).crop_extend(left, left + width, None)
        is_cursor = index == self.cursor and self.has_focus
        style = _CURSOR if is_cursor else _HERE if index == self.here else Style()
        return strip.apply_style(self.rich_style + style)

    def on_click(self, event: Click) -> None:
        """The cursor goes to the row under the pointer; one whose number is clicked is chosen."""
        at = event.get_content_offset(self)
        row = self.scroll_offset.y + at.y if at is not None else len(self._rows)
        if at is not None and row < len(self._rows):
            self.cursor = row
            self.refresh()
            if self.scroll_offset.x + at.x < GUTTER:
                self.action_choose()

    def on_focus(self) -> None:
        """The cursor is shown."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor is not shown."""
        self.refresh()

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.cursor = max(0, min(self.cursor + rows, len(self._rows) - 1))
        self._to_cursor()
        self.refresh()

    def action_choose(self) -> None:
        """Tell of the row of the cursor."""
        if self._rows:
            self.post_message(self.Chosen(self, self.cursor))

    def _to_cursor(self, *, centre: bool = False) -> None:
        height = self.scrollable_content_region.height
        if centre and not self.scroll_offset.y + 1 <= self.cursor < self.scroll_offset.y + height - 1:
            self.scroll_to(y=max(0, self.cursor - height // 2), animate=False, force=True)
        else:
            self.scroll_to_region(Region(self.scroll_offset.x, self.cursor, 1, 1), animate=False, force=True)

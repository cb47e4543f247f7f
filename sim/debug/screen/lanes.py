"""The pane of the lanes of a wavefront: which are active, and by what the others are not."""

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.events import Click
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ctm.sim.debug.session import Session

_UNCOVERED, _KILLED = ".", "x"
_LEGEND = {
    "A": ("active", "black on green"), "b": ("by a branch", "white on dark_blue"),
    "l": ("by BREAK or CONTINUE", "white on dark_magenta"), "c": ("by CONTINUE", "white on dark_magenta"),
    "k": ("by BREAK", "white on dark_red"), _KILLED: ("killed", "black on red"),
    _UNCOVERED: ("not covered", "grey50 on grey11"),
}  # fmt: skip
_CHOSEN = Style(bold=True)


def lane_letters(session: Session) -> list[str]:
    """For each lane of the wavefront a letter: A, or by what it is inactive, not covered or killed."""
    batch = session.wavefront.batch
    states = zip(batch.lane_states(), batch.covered, batch.valid_mask, strict=True)
    return [_UNCOVERED if not covered else state if valid else _KILLED for state, covered, valid in states]


class LanePane(Widget, can_focus=True):
    """Lanes as they lie in the domain; a click chooses one."""

    BINDINGS = [
        Binding("left", "step(-1, 0)", "Left", show=False), Binding("right", "step(1, 0)", "Right", show=False),
        Binding("up", "step(0, -1)", "Up", show=False), Binding("down", "step(0, 1)", "Down", show=False),
    ]  # fmt: skip

    class Chosen(Message):
        """A lane was chosen."""

        def __init__(self, lane: int) -> None:
            super().__init__()
            self.lane = lane

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.border_title = "Lanes"
        self._lane_at: dict[tuple[int, int], int] = {}
        self._letters: list[str] = []
        self._masks: list[str] = []
        self._lane, self._columns, self._rows = 0, 1, 0

    def update_from(self, session: Session) -> None:
        """Show the wavefront as it is."""
        batch = session.wavefront.batch
        left, top = int(batch.i.min()), int(batch.j.min())
        self._lane_at = {(int(i) - left, int(j) - top): lane for lane, (i, j) in enumerate(zip(batch.i, batch.j))}  # noqa: B905
        self._columns, self._rows = (max(at[axis] for at in self._lane_at) + 1 for axis in (0, 1))
        self._letters, self._lane = lane_letters(session), session.lane
        self._masks = [
            f"{name:<14}{''.join('1' if each else '.' for each in mask)}"
            for name, mask in session.view.masks(batch).items()
        ]
        self.border_subtitle = f"i from {left}, j from {top}"
        self.refresh()

    @property
    def _cell(self) -> int:
        return max(1, min(4, self.content_size.width // self._columns))

    def render_line(self, y: int) -> Strip:
        """See `Widget`."""
        width, style = self.content_size.width, self.rich_style
        if y < self._rows:
            segments = [self._segment(column, y) for column in range(self._columns)]
        else:
            segments = self._below(y - self._rows - 1)
        return Strip(segments).crop_extend(0, width, style).apply_style(style)

    def _segment(self, column: int, row: int) -> Segment:
        lane, cell = self._lane_at.get((column, row)), self._cell
        if lane is None:
            return Segment(" " * cell)
        letter = self._letters[lane]
        is_chosen = lane == self._lane
        text = f"[{letter}]" if is_chosen and cell > 2 else letter
        style = Style.parse(_LEGEND[letter][1])
        return Segment(text.center(cell), style + _CHOSEN + Style(reverse=cell < 3) if is_chosen else style)

    def _below(self, row: int) -> list[Segment]:
        """What the letters mean, and the masks."""
        legend = [letter for letter in _LEGEND if letter in self._letters]
        if row == 0:
            return [
                segment
                for letter in legend
                for segment in (
                    Segment(f" {letter} ", Style.parse(_LEGEND[letter][1])),
                    Segment(f" {_LEGEND[letter][0]}  "),
                )
            ]
        return [Segment(self._masks[row - 1])] if 0 <= row - 1 < len(self._masks) else []

    def on_click(self, event: Click) -> None:
        """The lane under the pointer is chosen."""
        at = event.get_content_offset(self)
        lane = None if at is None else self._lane_at.get((at.x // self._cell, at.y))
        if lane is not None:
            self.post_message(self.Chosen(lane))

    def action_step(self, columns: int, rows: int) -> None:
        """Choose the lane beside this one."""
        here = next(at for at, lane in self._lane_at.items() if lane == self._lane)
        lane = self._lane_at.get((here[0] + columns, here[1] + rows))
        if lane is not None:
            self.post_message(self.Chosen(lane))

"""The pane of the registers of one lane, in which those that changed are marked."""

import numpy as np
from rich.text import Text

from ctm.sim.debug.numbers import CHANNELS
from ctm.sim.debug.screen.rows import Rows
from ctm.sim.debug.session import Session
from ctm.sim.debug.views import FLOAT, Value

_WIDTH = 14
"""Of a channel: a float with six digits, its sign and exponent."""
_SMALLEST = np.finfo(np.float32).smallest_normal
_Lane = tuple[int, int, int]


class RegisterPane(Rows):
    """Registers of the lane that is looked at."""

    _of: _Lane | None = None
    """Launch, wavefront and lane that are shown."""
    _words: dict[str, tuple[int, ...]] = {}

    def update_from(self, session: Session) -> None:
        """Show the registers as they are; those are marked that the same lane had with other values before."""
        batch, launch, lane = session.wavefront.batch, session.started.launch, session.lane
        of = (*session.position[:2], lane)
        before = self._words if of == self._of else {}
        self._of, self._words, first = of, {}, None
        rows: list[Text] = []
        masks = session.view.masks(batch)
        for name in session.view.names(batch):
            if name in masks:
                continue
            value = session.view.value(batch, launch, name)
            words = tuple(int(word) for word in value.words[:, lane])
            changed = [each != other for each, other in zip(words, before.get(name, words), strict=True)]
            if any(changed) and first is None:
                first = len(rows)
            self._words[name] = words
            rows.append(_row(name, value, lane, changed, CHANNELS[session.view.kind]))
        self.border_subtitle = f"lane {lane} ({batch.i[lane]}, {batch.j[lane]})"
        self.show(rows, seen=first)


def _row(name: str, value: Value, lane: int, changed: list[bool], letters: str) -> Text:
    row = Text(no_wrap=True, end="")
    row.append("*" if any(changed) else " ", "yellow bold")
    row.append(f"{name:<12}", "bold")
    names = letters if len(changed) > 1 else " "
    for channel, letter in zip(range(len(changed)), names, strict=False):
        row.append(f" {letter} ", "dim")
        row.append(f"{_text(value, channel, lane):<{_WIDTH - 3}}", "black on yellow" if changed[channel] else "")
    return row


def _text(value: Value, channel: int, lane: int) -> str:
    """A number; of a float that is likely no float, the number that its bits are, as `set` takes it."""
    number = value.numbers[channel, lane]
    if value.kind != FLOAT:
        return str(int(number))
    is_bits = np.isnan(number) or 0 < abs(number) < _SMALLEST
    return f"{value.words.view(np.int32)[channel, lane]}i" if is_bits else f"{number:.6g}"

"""Compares a text with the words that it is to mean: what it cannot say is written as fields."""

from collections.abc import Sequence

from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.tokens import statements


def cursor_of(text: str) -> Cursor:
    """A cursor at the beginning of a statement."""

    def fail(error: SourceError) -> None:
        raise error

    return Cursor(next(statements(text, fail)), {})


def with_overrides(text: str, found: Draft, wanted: Draft) -> str:
    """A text that means `found`, with the fields that make it mean `wanted`."""
    differences = found.differences(wanted)
    fields = ", ".join(f"{name}={value}" for name, value in differences.items())
    return f"{text} {{{fields}}}" if fields else text


def words_text(words: Sequence[int]) -> str:
    """Words as hexadecimal numbers."""
    return ", ".join(f"0x{word:08x}" for word in words)


def swizzle_text(selects: Sequence[int], letters: str) -> str:
    """Component selects as a swizzle; a reserved one as one that is masked."""
    return "." + "".join(letters[select].replace("?", "_") for select in selects)

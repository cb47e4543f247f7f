"""Walks over the tokens of one statement."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NoReturn, TypeVar

from ctm.sim.assembler.error import Position, SourceError
from ctm.sim.assembler.tokens import Kind, Token

_Value = TypeVar("_Value")
_NEAR = 0.8
"""How much of a name has to be right for the one that is meant to be guessed."""


class Cursor:
    """A position in a statement. Names and marks are compared without regard to case.

    `aliases` maps the names that `.equ` defined to the tokens that they stand for.
    """

    def __init__(self, tokens: Sequence[Token], aliases: Mapping[str, Sequence[Token]]) -> None:
        self._tokens = list(tokens)
        self._at = 0
        self._aliases = aliases

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._at]

    @property
    def position(self) -> Position:
        """Where the next token is."""
        return self.token.position

    @property
    def at_end(self) -> bool:
        """Whether the statement ends here."""
        return self.token.kind is Kind.END

    def expand_alias(self) -> None:
        """Replace a name that `.equ` defined by what it stands for."""
        token = self.token
        if token.kind is Kind.NAME and token.text in self._aliases:
            meaning = [Token(each.kind, each.text, token.position) for each in self._aliases[token.text]]
            self._tokens[self._at : self._at + 1] = meaning

    def next_is(self, *texts: str) -> bool:
        """Whether the next token is one of these."""
        return self.token.kind is not Kind.END and self.token.text.lower() in texts

    @property
    def following(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def followed_by(self, text: str) -> bool:
        """Whether the token after the next one is this."""
        return self.following.text == text

    def take(self) -> Token:
        """The next token, passed over."""
        token = self.token
        if token.kind is not Kind.END:
            self._at += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        """Pass over the next token if it is one of these."""
        return self.take() if self.next_is(*texts) else None

    def accept_kind(self, kind: Kind) -> Token | None:
        """Pass over the next token if it is of this kind."""
        return self.take() if self.token.kind is kind else None

    def expect(self, text: str) -> Token:
        """Pass over the next token, which must be this."""
        token = self.accept(text)
        if token is None:
            self.fail(f"expected {text!r}, not {self.described()}")
        return token

    def expect_name(self, what: str) -> Token:
        """Pass over the next token, which must be a name."""
        token = self.accept_kind(Kind.NAME)
        if token is None:
            self.fail(f"expected {what}, not {self.described()}")
        return token

    def expect_end(self) -> None:
        """Check that nothing follows."""
        if not self.at_end:
            self.fail(f"expected the end of the statement, not {self.described()}")

    def fail_unknown(self, what: str, names: Iterable[str]) -> NoReturn:
        """Fail at the next token, which is none of these names; the nearest one is said."""
        close = get_close_matches(self.token.text.lower(), sorted(names), n=1, cutoff=_NEAR)
        hint = f"; did you mean {close[0].upper()}?" if close else ""
        self.fail(f"expected {what}, not {self.described()}{hint}")

    def choose(self, choices: Mapping[str, _Value], what: str) -> _Value:
        """Pass over a name that is a key of `choices`, in any case, and give its value."""
        key = self.token.text.lower()
        if self.token.kind is not Kind.NAME or key not in choices:
            self.fail(f"expected {what}, not {self.described()}; there are: {', '.join(choices)}")
        self.take()
        return choices[key]

    def integer(self, what: str, limit: int) -> int:
        """Pass over a whole number of 0..limit - 1."""
        self.expand_alias()
        if self.token.kind is not Kind.NUMBER:
            self.fail(f"expected {what}, not {self.described()}")
        value = number(self.token)
        if not isinstance(value, int) or not 0 <= value < limit:
            self.fail(f"{what} must be a whole number of 0..{limit - 1}, not {self.token.text}")
        self.take()
        return value

    def described(self) -> str:
        """The next token, for a message."""
        return "the end of the line" if self.at_end else repr(self.token.text)

    def fail(self, message: str) -> NoReturn:
        """Raise an error at the next token."""
        self.fail_at(message, self.position)

    def fail_at(self, message: str, position: Position) -> NoReturn:
        """Raise an error at an earlier position."""
        raise SourceError(message, position)


def number(token: Token) -> int | float:
    """The value of a NUMBER token."""
    text = token.text.lower()
    if text.startswith(("0x", "0b")):
        return int(text, 0)
    if text.isdigit():
        return int(text)
    return float(text)

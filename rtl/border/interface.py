"""The base of all signatures between units."""

from amaranth.lib import wiring


class Interface(wiring.Signature):
    """A signature that both sides name; two with the same members are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.members == self.members

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.members!r})"

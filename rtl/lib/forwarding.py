"""A module whose ports are those of a component inside it."""

from collections.abc import Iterable

from amaranth import Module, Value
from amaranth.lib.wiring import Component, Flow, Member, PureInterface, connect, flipped


def forward(m: Module, outer: Component, inner: Component, names: Iterable[str]) -> None:
    """Make ports of `outer` those of `inner` with the same names; what `m` assigns later overrides them."""
    for name in names:
        member, mine, own = inner.signature.members[name], getattr(outer, name), getattr(inner, name)
        if member.is_port:
            target, source = (own, mine) if member.flow is Flow.In else (mine, own)
            m.d.comb += Value.cast(target).eq(Value.cast(source))
            continue
        for one, other in zip(mine, own, strict=True) if member.dimensions else [(mine, own)]:
            _connect(m, one, other, member)


def _connect(m: Module, outer: PureInterface, inner: PureInterface, member: Member) -> None:
    if member.flow is Flow.In:
        connect(m, flipped(outer), inner)
    else:
        connect(m, inner, flipped(outer))

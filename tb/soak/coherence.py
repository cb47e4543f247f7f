"""What caches may hold that memory does not have, or has by now: which maintenance the manual asks for."""

from dataclasses import dataclass, field

from ctm.tb.soak.regions import Region

Regions = set[Region]


@dataclass(frozen=True, kw_only=True)
class Accesses:
    """What a program may touch; `vertices` are those of a draw."""

    read: frozenset[Region]
    vertices: frozenset[Region]
    floats: Region
    written: frozenset[Region]
    uncached: frozenset[Region]
    conditional: Region


@dataclass
class Coherence:
    """Regions by what has to happen before they may be used otherwise."""

    unflushed: Regions = field(default_factory=set)
    unflushed_conditional: Regions = field(default_factory=set)
    stale: dict[str, Regions] = field(
        default_factory=lambda: {
            name: set() for name in ("inv_inp_cache", "inv_vtx_cache", "inv_constf_cache", "inv_cond_out_cache")
        }
    )  # fmt: skip
    """Written since the last invalidate."""

    def before(self, accesses: Accesses) -> list[str]:
        """Commands that have to stand in front of a program."""
        names = []
        conditional = {accesses.conditional}
        others = accesses.read | accesses.vertices | {accesses.floats} | accesses.uncached
        if self.unflushed & (others | conditional):
            names.append("flush_out_cache")
        if self.unflushed_conditional & (others | accesses.written) or (
            conditional & self.unflushed_conditional and conditional & self.stale["inv_cond_out_cache"]
        ):
            names.append("flush_cond_out_cache")
        users = {
            "inv_inp_cache": accesses.read, "inv_vtx_cache": accesses.vertices,
            "inv_constf_cache": {accesses.floats}, "inv_cond_out_cache": conditional,
        }  # fmt: skip
        return names + [name for name, regions in users.items() if self.stale[name] & regions]

    def command(self, name: str) -> None:
        """A flush or an invalidate."""
        if name == "flush_out_cache":
            self.unflushed.clear()
        elif name == "flush_cond_out_cache":
            self.unflushed_conditional.clear()
        elif name in self.stale:
            # A line whose write is in flight will be stale again; a dirty line is not dropped.
            self.stale[name] &= self.unflushed | self.unflushed_conditional

    def after(self, accesses: Accesses) -> None:
        """A program ran."""
        self.unflushed |= accesses.written
        self.unflushed_conditional.add(accesses.conditional)
        for name, regions in self.stale.items():
            regions |= accesses.written | accesses.uncached
            if name != "inv_cond_out_cache":
                regions.add(accesses.conditional)

"""How well a run used the machine, from what the hardware counted."""

from collections.abc import Mapping
from dataclasses import dataclass

from ctm.rtl.config import ArrayConfig

_STALL = "stall_"
_CACHES = {"input": "input cache", "shared": "its second level", "conditional": "conditional cache"}


@dataclass(frozen=True, kw_only=True)
class Utilisation:
    """Shares of the cycles, per core, and of the accesses."""

    alu_share: float
    """Cycles in which a core's lanes take an ALU or OUTPUT instruction, or a segment of an R700 wavefront's group."""
    stall_shares: dict[str, float]
    """Cycles in which a core that has groups issues none, by cause (`docs/isa.md`, counters)."""
    hit_rates: dict[str, float]
    """Accesses that hit, by cache; a cache without accesses is not there."""

    @property
    def greatest_stall(self) -> str:
        """The most frequent cause."""
        return max(self.stall_shares, key=lambda cause: self.stall_shares[cause])

    def __str__(self) -> str:
        cause = self.greatest_stall
        text = f"ALU issue in {percent(self.alu_share)} of the cycles of a core; "
        text += f"greatest stall: {cause}, in {percent(self.stall_shares[cause])} of them"
        if self.hit_rates:
            rates = (f"{_CACHES[name]} {percent(rate)}" for name, rate in self.hit_rates.items())
            text += f"\nhits: {', '.join(rates)}"
        return text


def utilisation(counters: Mapping[str, int], *, cycles: int, array: ArrayConfig) -> Utilisation:
    """Of a run that took so many cycles; `counters` are those of a cycle-accurate engine."""
    clocks = max(1, cycles * array.cores)
    accesses = {name: (counters[f"{name}_hits"], counters[f"{name}_misses"]) for name in _CACHES}
    return Utilisation(
        alu_share=counters["issued_alu"] * array.cycles_per_wavefront / clocks,
        stall_shares={
            name.removeprefix(_STALL): count / clocks for name, count in counters.items() if name.startswith(_STALL)
        },
        hit_rates={name: hits / (hits + misses) for name, (hits, misses) in accesses.items() if hits + misses},
    )


def percent(share: float) -> str:
    """A share, for people."""
    return f"{100 * share:.1f} %"


def draws_text(counters: Mapping[str, int]) -> str:
    """A line on the draws of a run, empty if there were none; `counters` are those of a cycle-accurate engine."""
    if not counters.get("draw_clocks_vertices"):
        return ""
    found = {name.removeprefix("draw_"): value for name, value in counters.items() if name.startswith("draw_")}
    emitted = f", {found['emitted']:,} emitted" if found["emitted"] else ""
    clocks = found["clocks_vertices"] + found["clocks_pixels"]
    order, raster = (100 * found[name] / clocks for name in ("wait_order", "wait_raster"))
    return (
        f"draws: {found['vertices']:,} vertices{emitted}, {found['primitives']:,} primitives ({found['dropped']:,} not "
        f"seen, {found['clipped']:,} clipped, {found['culled']:,} culled), {found['pixels']:,} pixels in "
        f"{found['strips']:,} strips; {100 * found['clocks_pixels'] / clocks:.1f} % of the clocks with pixels, "
        f"{raster:.1f} % waiting for the raster, {order:.1f} % for earlier pixels"
    )

"""What the hardware counted of draws, in words."""

from collections.abc import Mapping


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

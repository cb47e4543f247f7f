"""A picture of how workloads scale."""

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

from ctm.sim.report.scale.measurement import CORES, WIDTHS
from ctm.sim.report.scale.record import ScaleMeasurement

_MARKERS = "osD^v<>"
"""Lines lie upon each other, so each is known by its marker too."""
_STYLE: Any = {
    # The same measurements give the same bytes, and texts stay texts.
    "svg.hashsalt": "scale",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def plot(measurements: list[ScaleMeasurement], path: Path) -> None:
    """Draw how much faster workloads get with cores, and their share of the peak; the same bytes each time.

    The file's ending says which kind of picture it is.

    Raises
    ------
    ModuleNotFoundError
        Matplotlib is not installed: it is in the extra ``plot``.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    # Beginning with matplotlib's own style, not the user's.
    with pyplot.style.context(["default", _STYLE]):
        figure, rows = pyplot.subplots(2, len(WIDTHS), figsize=(11, 7), sharex=True, sharey="row")
        for column, width in enumerate(WIDTHS):
            found = [measurement for measurement in measurements if measurement.width == width]
            speed, share = rows[0][column], rows[1][column]
            _draw(speed, found, lambda measurement: measurement.speedup)
            _draw(share, found, lambda measurement: measurement.peak_share)
            speed.plot(CORES, CORES, color="black", linewidth=0.8, linestyle="dotted", zorder=1)
            speed.set(title=f"{width} bytes a cycle", xscale="log", yscale="log")
            speed.set_xticks(CORES, map(str, CORES))
            speed.set_yticks(CORES, map(str, CORES))
            speed.minorticks_off()
            share.minorticks_off()
            share.yaxis.set_major_formatter("{x:.0%}")
            share.set(xlabel="cores", ylim=(0, 1))
        rows[0][0].set_ylabel("times as fast as one core")
        rows[1][0].set_ylabel("share of the peak")
        figure.legend(*rows[0][0].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False)
        # The legend has the lowest twelfth.
        figure.tight_layout(rect=(0, 0.08, 1, 1))
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)


def _draw(panel: Any, found: list[ScaleMeasurement], height: Callable[[ScaleMeasurement], float | None]) -> None:
    """A line for each workload, over cores; nothing where there is no height."""
    names = dict.fromkeys(measurement.name for measurement in found)
    for name, marker in zip(names, cycle(_MARKERS), strict=False):
        points = [(each.cores, height(each)) for each in found if each.name == name]
        panel.plot(*zip(*points, strict=True), marker=marker, markersize=5, linewidth=1.3, label=name)

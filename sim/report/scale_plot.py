"""A picture of how workloads scale."""

from pathlib import Path

from ctm.sim.report.scale import CORES, WIDTHS
from ctm.sim.report.scale_record import ScaleMeasurement


def plot(measurements: list[ScaleMeasurement], path: Path) -> None:
    """Draw how much faster workloads get with cores; the file's ending says which kind of picture it is.

    Raises
    ------
    ModuleNotFoundError
        Matplotlib is not installed: it is in the extra ``plot``.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(WIDTHS), figsize=(12, 4), sharey=True)
    for panel, width in zip(panels, WIDTHS, strict=True):
        for name in dict.fromkeys(found.name for found in measurements):
            points = [
                (found.cores, found.speedup) for found in measurements if (found.name, found.width) == (name, width)
            ]
            panel.plot(*zip(*points, strict=True), marker="o", label=name)
        panel.plot(CORES, CORES, color="grey", linewidth=0.5)
        panel.set(title=f"{width} bytes a cycle", xlabel="cores", xscale="log", yscale="log")
        panel.set_xticks(CORES, map(str, CORES))
        panel.set_yticks(CORES, map(str, CORES))
        panel.minorticks_off()
    panels[0].set_ylabel("times as fast as one core")
    panels[0].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)

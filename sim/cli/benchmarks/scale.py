"""``ctm bench scale``: machines of many cores. Measurements take an hour and may be made one by one."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from ctm.rtl.config import MachineConfig
from ctm.sim.cli.options.engines import prepare_engine
from ctm.sim.cli.outcome import BadInput
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.files import is_same_file, try_files

_PICTURES = (".svg", ".png")


def measure_scale(
    config: MachineConfig,
    origin: Mapping[str, Any],
    *,
    picture: Path | None,
    kept: Path | None,
    chosen: Sequence[str] | None,
) -> tuple[dict[str, Any], Callable[[], None]]:
    """Measure what the record does not have; the fields for JSON, and a function that prints a table.

    Parameters
    ----------
    config
        The machine of one core.
    origin
        Preset and settings of the user; a record of others is rejected.
    picture, kept, chosen
        Files of the picture and of the record, and names of workloads; without names, all.
    """
    from ctm.sim.report.scale import measurement
    from ctm.sim.report.scale.record import Record, RecordError

    work = {name: measurement.WORK[name] for name in _names(chosen, list(measurement.WORK))}
    _check_files(picture, kept)
    try:
        record = Record(kept, origin)
    except RecordError as error:
        raise BadInput(str(error)) from None
    for cores in measurement.cores_to_run(record, work):
        prepare_engine(RtlEngine.name, measurement.machine(config, cores, measurement.WIDTHS[0]))
    with Console(stderr=True).status("") as status:
        found = measurement.measure_all(RtlEngine.name, config, status.update, record=record, work=work)
    if picture is not None:
        from ctm.sim.report.scale.plot import plot

        plot(found, picture)
    return measurement.as_fields(found), lambda: measurement.print_scale(RtlEngine.name, found)


def _names(chosen: Sequence[str] | None, names: list[str]) -> list[str]:
    """The selected workloads, in their usual order."""
    for name in chosen or []:
        if name not in names:
            raise BadInput(f"--workload: there is no '{name}'; there are: {'; '.join(names)}")
    return [name for name in names if not chosen or name in chosen]


def _check_files(picture: Path | None, kept: Path | None) -> None:
    """Reject files, before an hour of work, that would make it fail during or after that."""
    if kept is not None:
        try_files({kept: 0})
    if picture is None:
        return
    if picture.suffix not in _PICTURES:
        raise BadInput(f"--plot {picture}: the file must end with {' or '.join(_PICTURES)}")
    if not picture.parent.is_dir():
        raise BadInput(f"--plot {picture}: there is no folder {picture.parent}")
    if kept is not None and is_same_file(kept, picture):
        raise BadInput(f"--record and --plot are the same file, {picture}")
    if find_spec("matplotlib") is None:
        raise BadInput("--plot needs matplotlib: pip install 'ctm-machine[plot]'")

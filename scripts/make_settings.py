"""Writes docs/settings.md: every setting of the machine and every preset, from rtl/config.py and recorded figures."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ctm.rtl.config import (
    DEFAULT,
    DEFAULT_PRESETS,
    PRESETS,
    WIDE,
    CacheConfig,
    MachineConfig,
    settings_of,
    with_settings,
)
from ctm.sim.engines.model import hardware
from ctm.sim.synthesis.cells import KINDS
from scripts.preset_areas import FILE as AREAS
from scripts.preset_clocks import FILE as CLOCKS
from scripts.preset_clocks import median
from scripts.preset_cycles import FILE as CYCLES
from scripts.preset_cycles import WORKLOADS
from scripts.reference_tables import table

DOCS = Path(__file__).parents[1] / "docs"
_KINDS = {"r5xx": "R5xx", "r700": "R700"}
_MOST = 1 << 32
"""Beyond this no setting goes."""

_CACHES = {
    "input_cache": "input cache of each core",
    "shared_cache": "shared cache, the second level of the input cache",
    "conditional_cache": "cache of the conditional unit",
}
_STEPS = {
    "operands": "unpacking and selection of operands; a transcendental's reduction of its argument",
    "partial_products": "partial products; a transcendental's table address",
    "product": "the sum of partial products; a transcendental's table, which always takes its cycle",
    "alignment": "alignment of product and addend; a transcendental's multipliers",
    "addition": "addition",
    "normalisation": "normalisation",
    "rounding": "rounding",
    "result": "output modifier, clamp and packing",
}
_PIPELINES = {"arithmetic": "arithmetic units", "presubtract": "presubtract units of R5xx"}

MEANINGS = {
    "array.instruction_set": "instruction set of the cores",
    "array.cores": "cores",
    "array.lanes": "lanes of a core",
    "array.wavefront": "pixels of an R700 wavefront; 0: as many as lanes, the only value for R5xx",
    "array.rate": "lanes that are computed in a cycle, at most `array.lanes`; 0: all of them",
    "array.threads": "wave slots of a core: its resident wavefronts at most",
    "array.temporaries": "depth of the register file of a core and lane, shared by its wave slots",
    "array.outputs": "outputs of the hardware; only draws have more than 4",
    "array.lookups": "outstanding fetches of a wavefront at most",
    "array.stack_entries": "entries of all control stacks of an R700 core",
    "pipeline.stages": "programs of draws before the pixel program in hardware; `none`: the hardware does not draw",
    "pipeline.vertices": "vertices of a draw that are shaded together; the vertex store holds their results",
    "array.walk": "order in which wavefronts are dispatched; `auto`: tiles if there are several cores, else rows",
    "memory.local_ports": "memory ports below `memory.split`; lines are interleaved among them",
    "memory.data_bits": "data width of a memory port in bits",
    "memory.outstanding_lines": "outstanding reads of lines, for each bank of the shared cache",
    "memory.split": "first address of the system port; 2^32: there is none",
    "memory.latency": "simulated memory: cycles from the read address to the first beat",
    "memory.bytes_per_cycle": "simulated memory: bandwidth of each port in each direction",
    "shared_cache.banks": "banks of the shared cache, each of which serves a line in a cycle; at most its sets and 8",
    "output_cache.lines": "lines of the output cache that can be assembled at once",
    "output_cache.banks": "banks of the output cache, each of which takes a write and evicts a line in a cycle",
    **{f"{cache}.sets": f"{text}: sets of 64-byte lines" for cache, text in _CACHES.items()},
    **{f"{cache}.ways": f"{text}: ways" for cache, text in _CACHES.items()},
    **{
        f"{section}.{step}": f"{unit}, pipeline register (1: there is one) after {text}"
        for section, unit in _PIPELINES.items()
        for step, text in _STEPS.items()
    },
}
"""What each setting is, by its dotted name."""


def _value(config: MachineConfig, name: str) -> int | str:
    section, _, key = name.partition(".")
    value: int | str = getattr(getattr(config, section), key)
    return value


def _problem(name: str, value: int | str) -> str:
    """What the configuration says of a value; an empty text if it is allowed. The widest machine allows the most."""
    config = replace(WIDE, array=replace(WIDE.array, instruction_set="r700")) if name == "array.wavefront" else WIDE
    try:
        with_settings(config, {name: value})
    except ValueError as error:
        return str(error)
    return ""


def _allowed(name: str) -> str:
    """The range of a setting, as the configuration's own messages have it."""
    value = _value(DEFAULT, name)
    if isinstance(value, str):
        return _found(r"must be one of (.*), not", _problem(name, "?"))
    low, high = (int(each) for each in _found(r"must be (\d+\.\.\d+), not", _problem(name, _MOST + 1)).split(".."))
    odd = next((3 << shift for shift in range(32) if low <= 3 << shift <= high), None)
    text = f"{low} to {high if high < _MOST else '2^32'}"
    if odd is not None and "power of two" in _problem(name, odd):
        text = f"powers of two, {text}"
    return f"0; {text}" if low > 0 and not _problem(name, 0) else text


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise LookupError(f"no '{pattern}' in '{text}'")
    return found[1]


def _compiles(name: str) -> bool:
    """Whether another value is other hardware, and so another model of engine `rtl`."""
    values = ("r700", "rows", "tiles", "vertex", *range(5), *(1 << shift for shift in range(33)))
    other = next(each for each in values if each != _value(WIDE, name) and not _problem(name, each))
    changed = with_settings(_machine_for(name), {name: other})
    return hardware(changed) != hardware(_machine_for(name))


def _machine_for(name: str) -> MachineConfig:
    return PRESETS["r700"] if name == "array.wavefront" else WIDE


def _setting_rows() -> Iterator[tuple[str, ...]]:
    default, *others = PRESETS
    for name in settings_of(DEFAULT):
        value = _value(DEFAULT, name)
        more = (_value(PRESETS[preset], name) for preset in others)
        yield (
            f"`{name}`", MEANINGS[name], _allowed(name), "yes" if _compiles(name) else "no", _shown(value),
            *("" if each == value else _shown(each) for each in more),
        )  # fmt: skip


def _shown(value: int | str) -> str:
    return "2^32" if value == _MOST else "2^31" if value == _MOST // 2 else str(value)


def _cells() -> dict[str, list[str]]:
    """LUT4, flip-flops, DP16KD and MULT18X18D of presets, as they are recorded."""
    recorded = json.loads(AREAS.read_text(encoding="utf-8"))
    return {name: [f"{areas['all'][kind]:,}" for kind in KINDS] for name, areas in recorded.items()}


def _bytes(cache: CacheConfig) -> str:
    return f"{cache.size // 1024} KiB"


def _preset_rows() -> Iterator[tuple[object, ...]]:
    cycles, clocks = (json.loads(file.read_text(encoding="utf-8")) for file in (CYCLES, CLOCKS))
    cells = _cells()
    for name, config in PRESETS.items():
        array = config.array
        yield (
            f"`{name}`", array.instruction_set, array.cores, array.lanes, array.at_once, array.wavefront_lanes,
            array.threads, _bytes(config.input_cache), _bytes(config.shared_cache),
            *cells.get(name, ["-"] * 4),
            median(clocks.get(name, {})),
            *(f"{cycles[name][each]:,}" if name in cycles else "-" for each in WORKLOADS),
        )  # fmt: skip


def reference() -> str:
    """The whole document."""
    defaults = " and ".join(f"`{preset}` for {_KINDS[kind]} programs" for kind, preset in DEFAULT_PRESETS.items())
    hardware_titles = (
        "instruction set", "cores", "lanes", "lanes computed in a cycle", "wavefront", "wave slots",
        "input cache of a core", "shared cache",
    )  # fmt: skip
    hardware_figures = "LUT4", "flip-flops", "DP16KD", "MULT18X18D", "MHz"
    texts = [
        "# Settings and presets",
        "",
        "Generated from `rtl/config.py` and recorded figures by `python -m scripts.make_settings`; do not edit.",
        "",
        f"`--preset NAME` selects a preset, `--set NAME=VALUE` changes a setting. The default preset is "
        f"{defaults}. In Python it is `Device(config=PRESETS[NAME])`, and "
        '`with_settings(config, {"array.cores": 4})` of `ctm.rtl.config` changes a setting.',
        "",
        "## Presets",
        "",
        "Cells are those of an ECP5 ([area.md](area.md)). MHz are those of an LFE5U-85F, the median of three seeds, of "
        "presets that fit it; [fpga.md](fpga.md#the-small-preset) has the netlist. `python -m scripts.preset_clocks` "
        "measures them again.",
        "",
        "Cycles have cold caches and memory of the preset's own latency; `r700` cores run the same tasks in programs "
        "of their own. `python -m scripts.preset_cycles` measures them again. A dash: not recorded.",
        "",
        *table(
            ("preset", *hardware_titles, *hardware_figures, *(f"{name}, cycles" for name in WORKLOADS)), _preset_rows()
        ),
        "## Settings",
        "",
        "Columns of presets have the values that differ from `default`. *Compiles* says whether another value makes "
        "engine `rtl` compile a new model, which takes a minute or two once. Engines `golden` and `fast` compile no "
        "hardware. "
        "A value beyond its range is an error that names the setting. Values that do not fit together are errors, too: "
        "[r700-core.md](design/r700-core.md) says which wavefronts, lanes and wave slots do.",
        "",
        *table(("setting", "meaning", "values", "compiles", *PRESETS), _setting_rows()),
    ]
    return "\n".join(texts).rstrip() + "\n"


if __name__ == "__main__":
    (DOCS / "settings.md").write_text(reference(), encoding="utf-8")

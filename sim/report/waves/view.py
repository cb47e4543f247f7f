"""The signals of a wave that explain a run."""

from dataclasses import dataclass
from enum import Enum

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.watch import Wait
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.host.counters import counter_steps
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.rtl.isa.limits import ADDRESS_BITS

_TOP = "ctm"
_CORE = f"{_TOP}.machine.array.core_0"


class Kind(Enum):
    """How a signal is shown."""

    BITS = "bits"
    NUMBER = "numbers"
    STATE = "states"
    INSTRUCTION = "instructions"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A signal: its name in the wave, with the modules that it is in."""

    path: str
    width: int = 1
    kind: Kind = Kind.BITS


@dataclass(frozen=True, kw_only=True)
class Section:
    """Signals under a heading."""

    name: str
    rows: tuple[Row, ...]


def view(config: MachineConfig) -> list[Section]:
    """What explains a run: wave slots and issue ports of the first core, and what the machine counts in each cycle."""
    shapes = INSTRUCTION_SETS[config.array.instruction_set].shapes
    pc_bits = shapes.program_format.most_units.bit_length()
    slots = tuple(
        row
        for slot in range(config.array.threads)
        for row in (
            Row(path=f"{_CORE}.wave_slot_{slot}", width=Wait.as_shape().width, kind=Kind.STATE),
            Row(path=f"{_CORE}.wave_slot_{slot}_pc", width=pc_bits, kind=Kind.NUMBER),
            Row(path=f"{_CORE}.wave_slot_{slot}_instruction", width=pc_bits + ADDRESS_BITS, kind=Kind.INSTRUCTION),
        )
    )
    issues = [
        Section(name=f"Issue port {port.name}", rows=(
            Row(path=f"{_CORE}.watch.issue_{number}_valid"),
            Row(path=f"{_CORE}.watch.issue_{number}_wave", width=wave_bits(config.array), kind=Kind.NUMBER),
            Row(path=f"{_CORE}.watch.issue_{number}_active", width=config.array.wavefront_lanes),
        ))
        for number, port in enumerate(shapes.ports)
    ]  # fmt: skip
    return [
        Section(name="Wave slots", rows=slots),
        *issues,
        _counted(config, "Stall causes", "STALL_"),
        _counted(config, "Caches", "INPUT_", "SHARED_"),
        _counted(config, "AXI beats", "LOCAL_", "SYSTEM_"),
        Section(name="AXI reads", rows=tuple(
            row
            for port in config.memory.ports
            for row in (Row(path=f"{_TOP}.m_axi_{port}_arvalid"),
                        Row(path=f"{_TOP}.m_axi_{port}_araddr", width=ADDRESS_BITS))
        )),
    ]  # fmt: skip


def _counted(config: MachineConfig, name: str, *prefixes: str) -> Section:
    """Counters' steps in each cycle."""
    steps = {str(counter): field.width for counter, field in counter_steps(config)}
    return Section(name=name, rows=tuple(
        Row(path=f"{_TOP}.machine.steps.{counter}", width=width, kind=Kind.NUMBER if width > 1 else Kind.BITS)
        for counter, width in steps.items() if counter.startswith(prefixes)
    ))  # fmt: skip

"""Timing diagrams of docs/integration.md: what the ports do in Amaranth's simulator, as WaveJSON (wavedrom.com)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctm.rtl.config import TINY, MachineConfig
from ctm.rtl.isa.host import REGISTERS
from ctm.sim.engines.interpreted import InterpretedMachine
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "diagrams"
CONFIG = replace(TINY, memory=replace(TINY.memory, latency=4))
_BUFFER, _COUNTS = 0x1000, 0x2000
_OFFSETS = {register.name: register.offset for register in REGISTERS}
_MEMORY, _CONTROL = "m_axi_local", "s_axi_control"
_BUS = "="
_UNKNOWN = "x"


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """Signals of a port over some cycles; a payload is drawn where the `valid` of its channel is high.

    `begins` and `ends` are signals of the first and the last cycle that are shown, beside one more at each end.
    """

    port: str
    signals: Sequence[str]
    begins: Sequence[str]
    ends: Sequence[str]
    head: str


_WRITES = ("awvalid", "awready", "awaddr", "wvalid", "wready", "wdata", "bvalid", "bready")
_READS = ("arvalid", "arready", "araddr", "rvalid", "rready", "rdata")
_BURST = ("arvalid", "arready", "araddr", "arlen", "rvalid", "rready", "rlast")
_WRITTEN = ("awvalid", "awready", "awaddr", "awlen", "wvalid", "wready", "wstrb", "wlast", "bvalid", "bready")
DIAGRAMS = {
    "register_write": Diagram(
        port=_CONTROL, signals=_WRITES, begins=("awvalid",), ends=("bvalid", "bready"), head="A register is written"
    ),
    "register_read": Diagram(
        port=_CONTROL, signals=_READS, begins=("arvalid",), ends=("rvalid", "rready"), head="A register is read"
    ),
    "line_read": Diagram(
        port=_MEMORY, signals=_BURST, begins=("arvalid",), ends=("rvalid", "rready", "rlast"),
        head="A line is read: 64 bytes in four beats of 16, from a memory with a latency of four cycles",
    ),
    "masked_write": Diagram(
        port=_MEMORY, signals=_WRITTEN, begins=("awvalid",), ends=("bvalid", "bready"),
        head="A masked write of a line, and its write response",
    ),
}  # fmt: skip


class _Watched:
    """What a simulation's process is given, with a look at the machine in front of each edge of the clock."""

    def __init__(self, context: Any, look: Callable[[Any], None]) -> None:
        self.get, self.set, self.delay = context.get, context.set, context.delay
        self._context, self._look = context, look

    async def tick(self) -> None:
        self._look(self._context)
        await self._context.tick()


class WatchedMachine(InterpretedMachine):
    """A machine of which `seen` has the signals of both ports, cycle by cycle."""

    def __init__(self, config: MachineConfig, memory: Memory) -> None:
        self.seen: list[dict[str, int]] = []
        super().__init__(config, memory)

    async def _testbench(self, context: Any) -> None:
        await super()._testbench(_Watched(context, self._look))

    def _look(self, context: Any) -> None:
        names = {f"{each.port}_{signal}" for each in DIAGRAMS.values() for signal in each.signals}
        self.seen.append({name: int(context.get(getattr(self._top, name))) for name in names})


def drawn() -> dict[str, str]:
    """WaveJSON of each diagram: a register is written and read, a command buffer read, counters written."""
    memory = Memory()
    commands = CommandBuffer().init_perf_counters(enable=True).read_perf_counters(_COUNTS)
    memory.write(_BUFFER, bytes(commands))
    machine = WatchedMachine(CONFIG, memory)
    machine.write(_OFFSETS["WATCHDOG"], 0x10_0000)
    machine.read(_OFFSETS["WATCHDOG"])
    machine.write(_OFFSETS["QUEUE_ADDRESS"], _BUFFER)
    machine.write(_OFFSETS["QUEUE_DWORDS"], len(commands.words))
    machine.write(_OFFSETS["QUEUE_PUSH"], 0)
    machine.run(500)
    return {name: _text(diagram, machine.seen) for name, diagram in DIAGRAMS.items()}


def _text(diagram: Diagram, seen: Sequence[dict[str, int]]) -> str:
    values = [{name: cycle[f"{diagram.port}_{name}"] for name in diagram.signals} for cycle in seen]
    first = next(at for at, cycle in enumerate(values) if all(cycle[name] for name in diagram.begins))
    last = next(at for at in range(first, len(values)) if all(values[at][name] for name in diagram.ends))
    shown = values[max(0, first - 1) : last + 2]
    lanes = [{"name": "clk", "wave": "p" + "." * (len(shown) - 1)}]
    lanes += [_lane(name, shown) for name in diagram.signals]
    lines = ",\n".join(f"    {json.dumps(lane)}" for lane in lanes)
    return f'{{\n  "head": {json.dumps({"text": diagram.head})},\n  "signal": [\n{lines}\n  ]\n}}\n'


def _lane(name: str, shown: Sequence[dict[str, int]]) -> dict[str, Any]:
    is_payload = not name.endswith(("valid", "ready"))
    channel = name[:2] if name.startswith("a") else name[:1]
    states = [None if is_payload and not cycle[f"{channel}valid"] else cycle[name] for cycle in shown]
    wave, data = "", []
    for at, state in enumerate(states):
        if at and state == states[at - 1]:
            wave += "."
        elif state is None:
            wave += _UNKNOWN
        elif is_payload and not name.endswith("last"):
            wave += _BUS
            data.append(f"{state:x}")
        else:
            wave += str(state)
    return {"name": name, "wave": wave} | ({"data": data} if data else {})

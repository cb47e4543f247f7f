"""How many instructions a core issues per cycle; cycles are the same on every computer."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from ctm.rtl.config import DEFAULT
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.engines.choice import ENGINES
from ctm.sim.report.workloads import Workload, blackscholes, mandelbrot, matmul, nbody, prepare
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.tb.r5xx.core_engine import CoreEngine
from ctm.tb.r5xx.shaders import Shader, run
from ctm.tb.r5xx.simulation.simulation import Timing

_LONG_ROUNDS = 60
_PRESUBTRACT_ROUNDS = 30
_LATENCY = 20
_WIDTH = 110


@dataclass(frozen=True)
class Rate:
    """What a run of a program issued."""

    name: str
    wavefronts: int
    cycles: int
    issued: tuple[int, int, int]


class _Engine(CoreEngine):
    """The core, remembering the last engine that was made."""

    last: "_Engine"

    def __init__(self, *arguments: object, **settings: object) -> None:
        super().__init__(*arguments, **settings)  # type: ignore[arg-type]
        self.timing = Timing(latency=_LATENCY)
        _Engine.last = self


def _rate(name: str) -> Rate:
    engine = _Engine.last
    result = engine.runs[-1]
    return Rate(name, engine.report().counters["groups"], result.cycles, result.issued)


def _program(name: str, body: str, rounds: int, wavefronts: int, registers: int) -> Rate:
    """A loop without fetches over some wavefronts, of which up to 16 are resident."""
    lines = [f".highest_temporary {registers - 1}", "ALU r1.rgb = MOV(r0)", "REP i0", *[body] * 16, "ENDREP"]
    device = Device("core", DEFAULT)
    layout = Layout(width=2 * wavefronts, height=2, format=DataFormat.FLOAT32_4)
    image = device.image(layout)
    commands = CommandBuffer().set_inst_fmt(device.place(write(assemble("\n".join([*lines, "OUT o0 = MOV(r1)"])))))
    commands.set_consti_fmt(device.place(bytes([rounds, 0, 0, 0]) + bytes(124)))
    commands.set_out_fmt(0, image.base, layout.format_word, layout.height)
    device.run(commands.set_domain(0, 0, 2 * wavefronts - 1, 1).start_program().flush_out_cache())
    return replace(_rate(name), wavefronts=wavefronts)


def _workload(workload: Workload, name: str) -> Rate:
    prepared = prepare(workload, "core", DEFAULT)
    prepared.device.run(prepared.commands)
    if not prepared.is_right():
        raise SystemExit(f"{name}: the result is wrong")
    return replace(_rate(name), wavefronts=workload.width * workload.height // DEFAULT.array.lanes)


def _shader(name: str) -> Rate:
    shader = Shader.load(name)
    width, height = shader.grid
    run(shader, domain=(0, 0, width - 1, height - 1), engine="core")
    return replace(_rate(f"{name}, compiled"), wavefronts=width * height // DEFAULT.array.lanes)


def rates() -> Iterator[Rate]:
    """Run all programs."""
    multiply = "ALU r1.rgb = MAD(r1, 0.5, r0) || r1.a = MAD(r1.a, 0.5, r0.r)"
    presubtract = "ALU r1.rgb = MAD((1 - r1), 0.5, r0) || r1.a = MAD(r1.a, 0.5, r0.r)"
    for wavefronts in (1, 2, 4, 8, 512):
        yield _program("multiply-adds, each on the last", multiply, _LONG_ROUNDS, wavefronts, 2)
    for wavefronts in (1, 2, 4, 8, 512):
        yield _program("the same with presubtract", presubtract, _PRESUBTRACT_ROUNDS, wavefronts, 2)
    yield _workload(mandelbrot(512), "mandelbrot, 512 x 512")
    yield _workload(matmul(64), "matmul, 64 x 64")
    yield _workload(matmul(128), "matmul, 128 x 128")
    yield _workload(nbody(32), "nbody, 1,024 bodies")
    yield _workload(blackscholes(128), "blackscholes, 128 x 128")
    for name in ("loop_divergent", "nested_if", "deep_nest", "mandelbrot"):
        yield _shader(name)


def main() -> None:
    """Print the table."""
    ENGINES["core"] = _Engine
    table = Table("program", title="Instructions issued per cycle, one core of 4 lanes and 16 slots")
    for column in ("wavefronts", "cycles", "ALU", "ALU / cycle", "TEX / cycle", "FC / cycle"):
        table.add_column(column, justify="right")
    for rate in rates():
        shares = [f"{count / rate.cycles:.3f}" for count in rate.issued]
        table.add_row(rate.name, f"{rate.wavefronts:,}", f"{rate.cycles:,}", f"{rate.issued[0]:,}", *shares)
    Console(width=_WIDTH).print(table)


if __name__ == "__main__":
    main()

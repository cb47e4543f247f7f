"""Many cores: the model on paper, what is told of measurements, and what is refused."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ctm.rtl.config import DEFAULT, TINY, with_settings
from ctm.sim.cli import main
from ctm.sim.report import scale, workloads
from ctm.sim.report.scale_model import Demand, PaperMachine, least_product_bytes, predict
from ctm.sim.report.workloads import Workload, prepare

PRODUCT = Demand(
    groups=1024, issues=1_180_000, accesses=532_480, asked=191_000, read=112_000, stores=8192, written=1 << 18,
    code=2328, product=256,
)  # fmt: skip
FOUND = [
    scale.ScaleMeasurement(
        name="work", cores=cores, width=width, cycles=1000 // cores, speedup=cores, peak_share=0.5, read_bytes=640,
        read_ratio=1.25, predicted=1100 / cores, bound="memory", demand=PRODUCT,
    )
    for width in scale.WIDTHS for cores in (1, 4)
]  # fmt: skip
RECORDED: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("scale.json").read_text(encoding="utf-8"))
"""What `ctm bench scale` measured: of each workload one core's demand, and cycles by bytes a cycle and cores."""
NEAR, WORSE = 0.10, 1.03
APART = {("matmul 512", "32", "8")}
"""Where cores drift apart and read lines again, of which the model does not know (docs/performance.md)."""


def many(cores: int, width: int) -> PaperMachine:
    return PaperMachine.of(scale.machine(DEFAULT, cores, width))


def test_a_block_of_all_cores_is_read_once() -> None:
    # 16 cores of 16 groups hold a block of 128 x 128 of C: 1 MiB of A and B.
    assert least_product_bytes(256, many(16, 16)) == 1 << 20
    assert least_product_bytes(256, many(4, 16)) == 2 << 20
    assert least_product_bytes(64, many(16, 16)) == 2 * 64 * 64 * 4


@pytest.mark.parametrize(
    ("demand", "cores", "width", "bound"),
    [
        (PRODUCT, 1, 16, "arithmetic"),
        (PRODUCT, 16, 64, "arithmetic"),
        (replace(PRODUCT, product=0), 16, 16, "memory"),
        (replace(PRODUCT, accesses=2_000_000), 1, 16, "input cache"),
        (replace(PRODUCT, product=0, asked=2_000_000), 16, 64, "shared cache"),
        (replace(PRODUCT, stores=200_000), 16, 64, "outputs"),
    ],
)
def test_the_busiest_part_bounds(demand: Demand, cores: int, width: int, bound: str) -> None:
    assert predict(demand, many(cores, width)).bound == bound


def test_arithmetic_is_divided_among_the_cores_that_have_groups() -> None:
    few = Demand(groups=8, issues=80_000, accesses=0, asked=0, read=0, stores=0, written=0, code=0)
    eight, sixteen = (predict(few, many(cores, 64)).cycles for cores in (8, 16))
    assert eight == sixteen == pytest.approx(10_000, rel=0.06)


@pytest.mark.parametrize("name", RECORDED)
def test_the_model_is_near_what_was_measured(name: str) -> None:
    asked = Demand(**RECORDED[name]["demand"])
    for width, measured in RECORDED[name]["cycles"].items():
        for cores, cycles in measured.items():
            if (name, width, cores) in APART:
                continue
            predicted = predict(asked, many(int(cores), int(width))).cycles
            assert predicted == pytest.approx(cycles, rel=NEAR), f"{cores} cores, {width} bytes a cycle"


def test_figures_of_the_documentation_are_those() -> None:
    text = (Path(__file__).parents[2] / "docs" / "performance.md").read_text(encoding="utf-8")
    for name, found in RECORDED.items():
        for cores in found["cycles"][str(scale.WIDTHS[0])]:
            row = " | ".join(f"{found['cycles'][str(width)][cores]:,}" for width in scale.WIDTHS)
            assert f"| {name} | {cores} | {row} |" in text


@pytest.mark.long
def test_sixteen_cores_are_as_fast_as_they_were() -> None:
    prepared = prepare(workloads.matmul(128), "rtl", scale.machine(DEFAULT, 16, 64))
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    assert prepared.cycles <= WORSE * RECORDED["matmul 128"]["cycles"]["64"]["16"]


@pytest.mark.long
def test_small_machines_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def little() -> Iterator[tuple[str, Workload, int]]:
        yield "matmul 64", workloads.matmul(64), 64

    monkeypatch.setattr(scale, "WIDTHS", (16, 64))
    found = scale.measure_all("rtl", TINY, lambda text: None, cores=(1, 2), listed=little)
    assert [(each.cores, each.width) for each in found] == [(1, 16), (2, 16), (1, 64), (2, 64)]
    assert [each.speedup for each in found[::2]] == [1, 1]
    assert all(1.5 < each.speedup < 2 for each in found[1::2])
    assert all(abs(each.predicted / each.cycles - 1) < 0.25 for each in found)


def test_the_table_has_each_machine(capsys: pytest.CaptureFixture[str]) -> None:
    scale.print_scale("rtl", FOUND)
    lines = [line for line in capsys.readouterr().out.splitlines() if "work " in line and "memory" in line]
    assert len(lines) == len(FOUND)
    assert all("+10.0%" in line and "50.0%" in line for line in lines)


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_a_picture_is_drawn(tmp_path: Path) -> None:
    scale.plot(FOUND, tmp_path / "scale.svg")
    assert (tmp_path / "scale.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["rtl", "--plot", "x.svg"], "--plot goes with 'scale' only"),
        (["scale", "--plot", "x.pdf"], "--plot x.pdf: the file must end with .svg or .png"),
        (["scale", "--plot", "nowhere/x.svg"], "--plot nowhere/x.svg: there is no folder nowhere"),
        (["scales"], "there are no figures of 'scales'; there are: golden, fast, rtl, scale"),
    ],
)
def test_bad_input_is_refused_before_an_hour_of_work(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["ctm", "bench", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert problem in capsys.readouterr().err


def test_one_core_of_the_bench_is_the_same_array() -> None:
    assert (
        with_settings(scale.machine(DEFAULT, 1, 16), {"memory.local_ports": 1, "memory.bytes_per_cycle": 16}) == DEFAULT
    )

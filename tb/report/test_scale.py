"""Many cores: the model on paper, what is told of measurements, and what is an error."""

from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from ctm.rtl.config import DEFAULT, TINY, MachineConfig, with_settings
from ctm.sim.cli import main
from ctm.sim.report import workloads
from ctm.sim.report.scale import measurement
from ctm.sim.report.scale.model import Demand, PaperMachine, least_product_bytes, predict
from ctm.sim.report.scale.plot import plot
from ctm.sim.report.scale.record import Record, RecordError, ScaleMeasurement
from ctm.sim.report.workloads import prepare

PRODUCT = Demand(
    groups=1024, issues=1_180_000, accesses=532_480, asked=191_000, read=112_000, stores=8192, written=1 << 18,
    code=2328, product=256,
)  # fmt: skip
FOUND = [
    ScaleMeasurement(
        name="work", cores=cores, width=width, cycles=1000 // cores, speedup=cores, peak_share=0.5, read_bytes=640,
        read_ratio=1.25, predicted=1100 / cores, bound="memory", demand=PRODUCT,
    )
    for width in measurement.WIDTHS for cores in (1, 4)
]  # fmt: skip
RECORDED = Record(Path(__file__).with_name("scale.json"), {"preset": None, "settings": []})
"""What `ctm bench scale --record` measured."""
DOCS = Path(__file__).parents[2] / "docs"
NEAR, WORSE = 0.10, 1.03


def many(cores: int, width: int) -> PaperMachine:
    return PaperMachine.of(measurement.machine(DEFAULT, cores, width))


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
def test_the_busiest_unit_bounds(demand: Demand, cores: int, width: int, bound: str) -> None:
    assert predict(demand, many(cores, width)).bound == bound


def test_arithmetic_is_divided_among_the_cores_that_have_groups() -> None:
    few = Demand(groups=8, issues=80_000, accesses=0, asked=0, read=0, stores=0, written=0, code=0)
    eight, sixteen = (predict(few, many(cores, 64)).cycles for cores in (8, 16))
    assert eight == sixteen == pytest.approx(10_000, rel=0.06)


def recorded(name: str, cores: int) -> list[ScaleMeasurement]:
    """What was measured of a workload with memories of each width."""
    found = [RECORDED.get(name, cores, width) for width in measurement.WIDTHS]
    return [each for each in found if each is not None]


@pytest.mark.parametrize("name", measurement.WORK)
def test_the_model_is_near_what_was_measured(name: str) -> None:
    for cores in measurement.CORES:
        for found in recorded(name, cores):
            predicted = predict(found.demand, many(cores, found.width)).cycles
            assert predicted == pytest.approx(found.cycles, rel=NEAR), f"{cores} cores, {found.width} bytes a cycle"


def test_all_that_there_is_was_measured() -> None:
    assert measurement.cores_to_run(RECORDED, measurement.WORK) == []


def test_figures_of_the_documentation_are_those() -> None:
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    for name in measurement.WORK:
        for cores in measurement.CORES:
            row = " | ".join(f"{found.cycles:,}" for found in recorded(name, cores))
            assert f"| {name} | {cores} | {row} |" in text


@pytest.mark.long
def test_sixteen_cores_are_as_fast_as_they_were() -> None:
    prepared = prepare(workloads.matmul(128), "rtl", measurement.machine(DEFAULT, 16, 64))
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    before = RECORDED.get("matmul 128", 16, 64)
    assert before is not None
    assert prepared.cycles <= WORSE * before.cycles


@pytest.mark.long
def test_few_cores_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "WIDTHS", (16, 64))
    little = {"matmul 64": measurement.Work(lambda: workloads.matmul(64), 64)}
    # Not TINY, whose registers are enough for four groups: they do not fill the pipeline, of which the model knows not.
    found = measurement.measure_all("rtl", DEFAULT, lambda text: None, cores=(1, 2), work=little)
    assert [(each.cores, each.width) for each in found] == [(1, 16), (2, 16), (1, 64), (2, 64)]
    assert [each.speedup for each in found[::2]] == [1, 1]
    assert all(1.5 < each.speedup < 2 for each in found[1::2])
    assert all(abs(each.predicted / each.cycles - 1) < 0.25 for each in found)


def test_a_run_that_ended_early_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[tuple[int, int]] = []

    def measure(engine: str, config: MachineConfig, *_: object) -> ScaleMeasurement:
        run.append((config.array.cores, PaperMachine.of(config).width))
        if len(run) == 3:
            raise InterruptedError
        return replace(FOUND[0], cores=run[-1][0], width=run[-1][1])

    def measure_all() -> list[ScaleMeasurement]:
        work = {"work": measurement.Work(lambda: workloads.matmul(16), 16)}
        return measurement.measure_all("rtl", TINY, lambda text: None, record=Record(path), cores=(1, 2), work=work)

    path = tmp_path / "scale.json"
    monkeypatch.setattr(measurement, "measure", measure)
    with pytest.raises(InterruptedError):
        measure_all()
    found = measure_all()
    machines = [(cores, width) for width in measurement.WIDTHS for cores in (1, 2)]
    assert run == [*machines[:3], *machines[2:]]
    assert [(each.cores, each.width) for each in found] == machines
    assert measure_all() == found
    assert len(run) == len(machines) + 1


def test_a_record_is_of_one_machine(tmp_path: Path) -> None:
    path = tmp_path / "scale.json"
    Record(path, {"preset": "tiny"}).add(FOUND[1])
    assert Record(path, {"preset": "tiny"}).get("work", 4, 16) == FOUND[1]
    with pytest.raises(RecordError, match="another machine was measured, with {'preset': 'tiny'}"):
        Record(path, {"preset": "wide"})


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"scale": 7}', '{"scale": [{"name": "work"}]}', "\xff"])
def test_other_files_are_no_records(text: str, tmp_path: Path) -> None:
    path = tmp_path / "scale.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(RecordError, match="this is no record of measurements"):
        Record(path)


def test_the_table_has_each_machine(capsys: pytest.CaptureFixture[str]) -> None:
    measurement.print_scale("rtl", FOUND)
    lines = [line for line in capsys.readouterr().out.splitlines() if "work " in line and "memory" in line]
    assert len(lines) == len(FOUND)
    assert all("+10.0%" in line and "50.0%" in line for line in lines)


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_a_picture_is_drawn(tmp_path: Path) -> None:
    plot(FOUND, tmp_path / "scale.svg")
    assert (tmp_path / "scale.svg").read_text().startswith("<?xml")


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_the_picture_of_the_documentation_is_of_what_was_measured(tmp_path: Path) -> None:
    picture = (DOCS / "diagrams" / "scale.svg").read_text(encoding="utf-8")
    if f"Matplotlib v{version('matplotlib')}," not in picture:
        pytest.skip("another version of matplotlib drew it")
    plot(measurement.measure_all("rtl", DEFAULT, pytest.fail, record=RECORDED), tmp_path / "scale.svg")
    assert (tmp_path / "scale.svg").read_text(encoding="utf-8") == picture


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["rtl", "--plot", "x.svg"], "--plot goes with 'scale' only"),
        (["golden", "--record", "x.json"], "--record goes with 'scale' only"),
        (["fast", "--workload", "matmul 128"], "--workload goes with 'scale' only"),
        (["scale", "--workload", "matmul 64"], "there is no 'matmul 64'; there are: matmul 128; matmul 256;"),
        (["scale", "--record", "nowhere/x.json"], "nowhere/x.json: "),
        (["scale", "--record", __file__], "this is no record of measurements"),
        (["scale", "--record", "x.svg", "--plot", "./x.svg"], "--record and --plot are the same file, x.svg"),
        (["scale", "--plot", "x.pdf"], "--plot x.pdf: the file must end with .svg or .png"),
        (["scale", "--plot", "nowhere/x.svg"], "--plot nowhere/x.svg: there is no folder nowhere"),
        (["scales"], "there are no figures of 'scales'; there are: golden, fast, rtl, draws, scale"),
    ],
)
def test_bad_input_is_an_error_before_an_hour_of_work(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["ctm", "bench", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert problem in capsys.readouterr().err


def test_one_core_of_the_bench_is_the_same_array() -> None:
    assert (
        with_settings(measurement.machine(DEFAULT, 1, 16), {"memory.local_ports": 1, "memory.bytes_per_cycle": 16})
        == DEFAULT
    )

"""The benchmark: what it reports, and that it looks at what it measures."""

import json
import os
import re
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from ctm.examples.catalogue import FOLDER
from ctm.examples.expectation import Expectation
from ctm.rtl.config import DEFAULT, R700, WIDE, MachineConfig
from ctm.sim.cli.application import application
from ctm.sim.report import benchmark, r700_workloads, speedup, workloads
from ctm.sim.report.workloads import Workload, prepare

SMALL = {
    "matmul": workloads.matmul(32),
    "nbody": workloads.nbody(8),
    "blackscholes": workloads.blackscholes(16),
}
R700_SMALL = {
    "matmul": r700_workloads.matmul(32),
    "mandelbrot": r700_workloads.mandelbrot(16),
    "sha256": r700_workloads.sha256(8),
}


def wrong(workload: Workload) -> Workload:
    """The same with one expected value that is not the right one."""
    first = workload.expectations[0]
    values = first.values.copy()
    values[0, 0, 0] += 1
    return replace(workload, expectations=(Expectation(values, first.tolerance), *workload.expectations[1:]))


def bench(*arguments: str) -> Result:
    """Run ``ctm bench``; an exception that escapes is a failure of the test."""
    result = CliRunner().invoke(application(), ["bench", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def matmul_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "workloads", lambda: [SMALL["matmul"]])
    monkeypatch.setattr(r700_workloads, "workloads", lambda: [R700_SMALL["matmul"]])


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("config", [DEFAULT, WIDE], ids=["default", "wide"])
def test_workloads_compute_what_numpy_says(name: str, config: MachineConfig) -> None:
    prepared = prepare(SMALL[name], "golden", config)
    assert not prepared.is_right()
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    prepared.device.run(prepared.commands)
    assert prepared.is_right()


@pytest.mark.parametrize("name", R700_SMALL)
def test_workloads_of_r700_cores_compute_what_numpy_says(name: str) -> None:
    prepared = prepare(R700_SMALL[name], "golden", R700)
    assert not prepared.is_right()
    prepared.device.run(prepared.commands)
    assert prepared.is_right()


def test_operations_of_sha256_are_those_in_its_slots() -> None:
    source = (FOLDER / "r700" / "sha256" / "sha256.s").read_text()
    loop = source[source.index("\n.pack") : source.index("\n.endpack")]
    operation = re.compile(r"^ *(?:[0-9]* *[xyzw]: )?(?:[A-Z_]+_INT|MOV) ", re.MULTILINE)
    rounds, others = (len(operation.findall(text)) for text in (loop, source.replace(loop, "")))
    assert R700_SMALL["sha256"].operations == 8**2 * (16 * rounds + others)


def test_all_workloads_are_there() -> None:
    listed = {workload.name: workload for workload in workloads.workloads()}
    assert {"mandelbrot", "matmul", "nbody", "blackscholes"} == set(listed)
    assert (listed["mandelbrot"].width, listed["mandelbrot"].height) == (512, 512)
    assert listed["matmul"].expectations[0].values.shape == (64, 64, 4)
    assert listed["matmul"].operations == 2 * 256**3


def test_figures_belong_to_one_run() -> None:
    found = benchmark.measure(SMALL["matmul"], "golden", DEFAULT, calibration=1e9)
    # 8 x 8 pixels; 3 + 8 + 4 + 1, 4 rounds of 16 fetches, 34 arithmetic and 1 flow instruction, 4.
    assert found.lane_instructions == 64 * (3 + 8 + 4 + 1 + 4 * 51 + 4)
    assert found.instructions == found.lane_instructions // 4
    assert found.lane_instruction_rate == pytest.approx(found.lane_instructions / found.seconds)
    assert found.calibration_ratio == pytest.approx(found.lane_instruction_rate / 1e9)
    assert found.operation_rate == pytest.approx(2 * 32**3 / found.seconds)


def test_a_wrong_result_is_no_figure() -> None:
    with pytest.raises(benchmark.WrongResultError, match="matmul on engine golden"):
        benchmark.measure(wrong(SMALL["matmul"]), "golden", DEFAULT, calibration=1e9)


@pytest.mark.usefixtures("matmul_only")
def test_bench_prints_one_json_object() -> None:
    found = json.loads(bench("golden", "--json").stdout)
    assert found["status"] == "ok"
    assert found["calibration_rate"] > 1e6
    assert 10 < found["peak_memory_mib"] <= benchmark.peak_memory()
    assert [measured["name"] for measured in found["golden"]] == ["matmul", "r700/matmul"]
    assert all(measured["operation_rate"] > 0 for measured in found["golden"])
    for preset, name in (("default", "matmul"), ("r700", "r700/matmul")):
        only = json.loads(bench("golden", "--preset", preset, "--json").stdout)["golden"]
        assert [measured["name"] for measured in only] == [name]


@pytest.mark.usefixtures("matmul_only")
def test_bench_prints_a_table() -> None:
    result = bench("golden")
    assert result.exit_code == 0
    assert "engine golden" in result.stdout
    assert "matmul" in result.stdout
    assert "peak memory" in result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("matmul_only")
def test_bench_runs_compiled_programs_beside_the_golden_model() -> None:
    before = os.sched_getaffinity(0), os.environ.get("XDG_CACHE_HOME")
    found = json.loads(bench("fast", "--json").stdout)
    assert (os.sched_getaffinity(0), os.environ.get("XDG_CACHE_HOME")) == before
    assert found["processors"] == len(before[0])
    assert [measured["name"] for measured in found["fast"]] == ["matmul", "r700/matmul"]
    for measured in found["fast"]:
        assert measured["times_golden"] == pytest.approx(measured["golden_seconds"] / measured["seconds"])
        # Nothing is compiled before the first run, and the second one finds it.
        assert measured["compile_seconds"] > measured["start_seconds"] >= 0
    table = bench("fast").stdout
    assert "engine fast on one processor" in table and "r700/matmul" in table


def test_a_wrong_result_of_compiled_programs_is_no_figure() -> None:
    with pytest.raises(benchmark.WrongResultError, match="matmul on engine fast"):
        speedup.measure(wrong(SMALL["matmul"]), DEFAULT)


def test_an_unknown_engine_of_bench_is_an_error() -> None:
    result = bench("silver")
    assert result.exit_code == 2
    assert "there are no figures of 'silver'" in result.output


def test_bench_fails_where_a_result_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "workloads", lambda: [wrong(SMALL["matmul"])])
    result = bench("golden", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["status"] == "mismatch"

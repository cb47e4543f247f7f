"""Campaigns on processes that share no folder: a scheduler, workers and a client."""

import json
import os
import shutil
import signal
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from ctm.rtl.config import DEFAULT
from ctm.sim.engines.rtl import RtlEngine
from ctm.tb.cli.processes import PATIENCE, Process, session, wait
from ctm.tb.mutation.hook import SITE, VARIABLE
from ctm.tb.sweep.processes import environment, of_python, worker
from ctm.tb.verify.command import run
from ctm.tb.verify.planted import planted

CAMPAIGN = "soak-r5xx"


verifying = partial(of_python, "-m", "ctm.tb.verify")
"""The command."""


@pytest.mark.long
def test_two_workers_get_one_model_and_share_the_seeds(tmp_path: Path, cluster: tuple[str, Process]) -> None:
    """One has the model in its cache, the other gets it as bytes; the client has neither."""
    address, _ = cluster
    client, first, second = (tmp_path / name for name in ("client", "first", "second"))
    (first / "cache" / "ctm").mkdir(parents=True)
    model = RtlEngine.library(DEFAULT)
    shutil.copy(model, first / "cache" / "ctm")
    with ExitStack() as stack:
        stack.enter_context(worker(first, address))
        arguments = ("--campaign", CAMPAIGN, "--seeds", 120, "--scheduler", address, "-o", client / "kept")
        process = stack.enter_context(verifying(*arguments, env=environment(client), cwd=client))
        assert process.stderr is not None
        assert "all models are compiled" in process.stderr.readline()
        stack.enter_context(worker(second, address))
        printed, errors = process.communicate(timeout=4 * PATIENCE)
    assert process.returncode == 0, errors
    assert printed.startswith(f"{CAMPAIGN}: 120 seeds, 0 failing")
    found = {home.name: [each.name for each in (home / "cache" / "ctm").glob("*.so")] for home in (first, second)}
    assert found == {"first": [model.name], "second": [model.name]}
    assert not (client / "cache" / "ctm").exists() and not list((client / "kept").iterdir())


@pytest.mark.long
def test_a_scheduler_that_goes_away_is_a_line_and_what_was_done_is_told(
    tmp_path: Path, cluster: tuple[str, Process]
) -> None:
    address, process_of_scheduler = cluster
    junit, output = tmp_path / "verify.xml", tmp_path / "kept"
    arguments = ("--campaign", "kernels", "--minutes", 5, "--scheduler", address, "--junit", junit, "-o", output)
    home = tmp_path / "worker"
    with worker(home, address), verifying(*arguments) as process:
        # A kernel is compiled in a folder of the worker's.
        wait(lambda: any(home.glob("tmp*/kernels.so")) or process.poll() is not None)
        process_of_scheduler.send_signal(signal.SIGKILL)
        printed, errors = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode == 2, (printed, errors)
    assert errors.splitlines()[-1] == f"error: the scheduler {address} has gone away"
    assert printed.startswith("kernels: ") and "0 failing" in printed and junit.exists()


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for address in ("tcp://127.0.0.1:9", "nonsense://127.0.0.1:9"):
        assert run(["--scheduler", address, "-o", str(tmp_path)]) == 2
        errors = capsys.readouterr().err.splitlines()
        assert errors[-1].startswith(f"error: --scheduler {address}: no scheduler responds there")


@pytest.mark.long
def test_workers_without_a_checkout_are_named(tmp_path: Path, cluster: tuple[str, Process]) -> None:
    """As with an installed package, which has no tests."""
    address, _ = cluster
    home = tmp_path / "worker"
    code = (
        "import sys; sys.modules['ctm.tb'] = None\n"
        "from distributed.cli.dask_worker import main; main(sys.argv[1:])"
    )  # fmt: skip
    options = [address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(home)]
    own = environment(home)
    with (
        of_python("-c", code, *options, env=own, cwd=home, stderr=(home / "said").open("w")),
        verifying("--campaign", "kernels", "--seeds", 1, "--scheduler", address, "-o", tmp_path / "kept") as client,
    ):
        wait(lambda: "Registered to" in (home / "said").read_text())
        _, errors = client.communicate(timeout=2 * PATIENCE)
    assert client.returncode == 2
    assert "cannot help: it has no tests, which only a checkout has" in errors.splitlines()[-1], errors


@pytest.mark.slow
def test_ctrl_c_while_workers_begin_is_a_line(tmp_path: Path) -> None:
    arguments = ("--campaign", "kernels", "--workers", 2, "--minutes", 5, "-o", tmp_path / "kept")
    with verifying(*arguments) as process:
        # Beside the client there is what keeps account of shared memory.
        wait(lambda: len(session(process)) > 2 or process.poll() is not None)
        os.killpg(process.pid, signal.SIGINT)
        printed, errors = process.communicate(timeout=PATIENCE)
        wait(lambda: not session(process))
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == "error: interrupted by SIGINT" and "Traceback" not in errors
    assert printed.startswith("kernels: 0 seeds")


@pytest.mark.long
def test_workers_of_this_computer_end_with_ctrl_c(tmp_path: Path) -> None:
    """Which a terminal sends to all of them; what was done is told."""
    arguments = ("--campaign", "kernels", "--workers", 1, "--minutes", 5, "-o", tmp_path / "kept")
    with verifying(*arguments, env={**os.environ, "TMPDIR": str(tmp_path)}) as process:
        wait(lambda: any(tmp_path.glob("tmp*/kernels.so")) or process.poll() is not None)
        os.killpg(process.pid, signal.SIGINT)
        printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == "error: interrupted by SIGINT" and "Traceback" not in errors
    assert printed.startswith("kernels: ")


@pytest.mark.long
def test_a_fault_is_found_and_reduced_by_workers_that_compile_it_once(
    tmp_path: Path, cluster: tuple[str, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers have the fault, the client does not."""
    address, _ = cluster
    fault = next(each for each in planted() if each.campaign == "r5xx")
    homes = [tmp_path / name for name in ("first", "second")]
    with ExitStack() as stack:
        with monkeypatch.context() as patch:
            patch.setenv(VARIABLE, fault.mutant.name)
            patch.setenv("PYTHONPATH", str(SITE), prepend=os.pathsep)
            for home in homes:
                stack.enter_context(worker(home, address))
        arguments = ("--campaign", fault.campaign, "--minutes", 10, "--failures", 2, "--scheduler", address)
        process = stack.enter_context(verifying(*arguments, "-o", tmp_path / "kept"))
        printed, errors = process.communicate(timeout=1200)
    assert process.returncode == 1, errors
    sizes = [json.loads(path.read_text())["items"] for path in (tmp_path / "kept").iterdir()]
    assert 0 < min(size for size in sizes if size) <= 12, printed
    models = [{each.name for each in (home / "cache" / "ctm").glob("model-*.so")} for home in homes]
    assert models[0] == models[1] and len(models[0]) == 1

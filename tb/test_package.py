"""The package as it is published: one name at its top, installed alone, far from the repository."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
DATA = {".cc", ".h", ".v", ".md", ".toml", ".s", ".npy", ".npz", ".json"}


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; it must succeed."""
    result = subprocess.run(command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=TOP)
    (found,) = folder.glob("ctm_machine-*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(sdist: Path) -> Path:
    """Made from the source distribution, as an index would be given it."""
    folder = sdist.parent / "wheel"
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet")
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", folder, sdist, cwd=folder.parent)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path) -> Path:
    """Programs of an environment that has the wheel and what it needs, and nothing else."""
    folder = wheel.parent / "environment"
    venv.create(folder)
    # The pip here installs it: one in the environment, and translations of what no test imports, take ten seconds.
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-compile", wheel, cwd=folder)
    return folder / "bin"


def data_files(*folders: str) -> set[str]:
    """Files beside the modules that the package needs."""
    listed = run("git", "ls-files", *folders, cwd=TOP).split() if (TOP / ".git").exists() else []
    return {f"ctm/{name}" for name in listed if Path(name).suffix in DATA}


@pytest.mark.slow
def test_the_wheel_has_one_name_at_its_top_and_all_its_files(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"ctm"}
    assert "ctm/py.typed" in names
    assert {name.split("/")[1] for name in names if name.startswith("ctm/") and name.count("/") > 1} == {
        "rtl", "sim", "examples", "language",
    }  # fmt: skip
    assert data_files("rtl", "sim", "examples") <= names
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.slow
def test_the_source_distribution_has_the_tests_too_and_each_file_once(sdist: Path) -> None:
    names = [name.partition("/")[2] for name in tarfile.open(sdist).getnames()]
    assert {"src/ctm/tb/test_package.py", "src/ctm/rtl/machine.py", "pyproject.toml", "README.md"} <= set(names)
    assert not [name for name in names if name.startswith(("rtl/", "sim/", "tb/", "examples/"))]
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_it_runs_alone_outside_the_repository(environment: Path, tmp_path: Path) -> None:
    version = re.search(r'^version = "(.+)"$', (TOP / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert version[1] in run(environment / "ctm", "--version", cwd=tmp_path)
    assert "This machine is set up right." in run(environment / "ctm", "doctor", cwd=tmp_path)
    program = "import ctm; print(ctm.__version__, ctm.Device, ctm.MachineConfig, ctm.assemble, ctm.disassemble)"
    assert version[1] in run(environment / "python", "-c", program, cwd=tmp_path)
    find = "from ctm.examples.catalogue import FOLDER; print(FOLDER)"
    examples = Path(run(environment / "python", "-c", find, cwd=tmp_path).strip())
    assert TOP not in examples.parents
    run(environment / "ctm", "run", examples / "saxpy" / "saxpy.toml", "-o", tmp_path / "out", cwd=tmp_path)
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".npy"]


@pytest.mark.long
def test_it_measures_itself_outside_the_repository(environment: Path, tmp_path: Path) -> None:
    assert "mandelbrot" in run(environment / "ctm", "bench", "golden", cwd=tmp_path, OMP_NUM_THREADS="1")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["rtl"])
def test_an_engine_whose_packages_are_missing_says_what_to_install(
    environment: Path, engine: str, tmp_path: Path
) -> None:
    find = "from ctm.examples.catalogue import FOLDER; print(FOLDER / 'saxpy' / 'saxpy.toml')"
    job = run(environment / "python", "-c", find, cwd=tmp_path).strip()
    command: list[str | Path] = [environment / "ctm", "run", job, "--engine", engine, "-o", tmp_path]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "pip install 'ctm-machine[rtl]'" in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())

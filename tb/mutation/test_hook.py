"""A mutant is what a process imports, by whatever name, and so is it in processes that it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctm.tb.mutation import hook
from ctm.tb.mutation.hook import SITE, VARIABLE
from ctm.tb.mutation.mutants import Source

PROBE = "def value():\n    return 3\n"
CHILD = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import probe; print(probe.value())'], check=True)"
)
FROM_FILE = """
import importlib.util
spec = importlib.util.spec_from_file_location("other", "link.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.value())
"""


@pytest.fixture
def probe(tmp_path: Path) -> Source:
    path = tmp_path / "probe.py"
    path.write_text(PROBE)
    (tmp_path / "probe.pyc").write_bytes(b"")
    return Source(path)


def printed(probe: Source, program: str, mutant: str | None) -> str:
    environment = os.environ | {"PYTHONPATH": f"{SITE}{os.pathsep}{probe.path.parent}"}
    environment |= {VARIABLE: mutant} if mutant else {}
    command = [sys.executable, "-c", program]
    result = subprocess.run(
        command, env=environment, cwd=probe.path.parent, capture_output=True, text=True, check=False
    )
    return (result.stdout or result.stderr).strip()


def test_an_import_gives_the_mutant_and_leaves_no_trace_of_it(probe: Source) -> None:
    program = "import probe; print(probe.value())"
    assert printed(probe, program, None) == "3"
    cached = sorted((path, path.read_bytes()) for path in probe.path.parent.rglob("*.pyc"))
    assert [printed(probe, program, mutant.name) for mutant in probe.mutants] == ["4", "2"]
    assert sorted((path, path.read_bytes()) for path in probe.path.parent.rglob("*.pyc")) == cached
    assert printed(probe, program, None) == "3"


def test_a_process_that_is_started_has_the_mutant(probe: Source) -> None:
    assert printed(probe, CHILD, probe.mutants[0].name) == "4"


def test_a_file_that_is_loaded_by_another_name_is_the_mutant(probe: Source) -> None:
    path = probe.path.parent / "link.py"
    path.symlink_to(probe.path)
    found = [printed(probe, FROM_FILE, name) for name in (None, probe.mutants[0].name)]
    # Its file is another one by name, and the same by contents.
    assert found == ["3", "4"]


def test_a_name_of_no_mutant_is_an_error(probe: Source) -> None:
    assert "has no mutant" in printed(probe, "print(1)", f"{probe.path}:9 3 -> 4 #1")


def test_a_module_that_is_there_is_an_error(probe: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(probe.path.parent))
    __import__("probe")
    try:
        with pytest.raises(hook.AlreadyImportedError, match="is imported already"):
            hook.install(probe, probe.mutants[0])
    finally:
        del sys.modules["probe"]


@pytest.mark.slow
def test_the_plugin_gives_tests_the_mutant(probe: Source) -> None:
    (probe.path.parent / "test_probe.py").write_text("import probe\ndef test_it():\n    assert probe.value() == 3\n")
    command = [sys.executable, "-m", "pytest", "-p", "ctm.tb.mutation.plugin", "-q", "test_probe.py"]
    for name, status in ((None, 0), (probe.mutants[0].name, 1)):
        environment = os.environ | ({VARIABLE: name} if name else {})
        result = subprocess.run(command, env=environment, cwd=probe.path.parent, capture_output=True, check=False)
        assert result.returncode == status, result.stdout

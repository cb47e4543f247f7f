"""A mutant is what a process imports, by whatever name, and so is it in processes that it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctm.tb.mutation import hook
from ctm.tb.mutation.hook import SITE, VARIABLE
from ctm.tb.mutation.mutants import Source

PIECE = "def value():\n    return 3\n"
CHILD = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import piece; print(piece.value())'], check=True)"
)
FROM_FILE = """
import importlib.util
spec = importlib.util.spec_from_file_location("other", "link.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.value())
"""


@pytest.fixture
def piece(tmp_path: Path) -> Source:
    path = tmp_path / "piece.py"
    path.write_text(PIECE)
    (tmp_path / "piece.pyc").write_bytes(b"")
    return Source(path)


def printed(piece: Source, program: str, mutant: str | None) -> str:
    environment = os.environ | {"PYTHONPATH": f"{SITE}{os.pathsep}{piece.path.parent}"}
    environment |= {VARIABLE: mutant} if mutant else {}
    command = [sys.executable, "-c", program]
    result = subprocess.run(
        command, env=environment, cwd=piece.path.parent, capture_output=True, text=True, check=False
    )
    return (result.stdout or result.stderr).strip()


def test_an_import_gives_the_mutant_and_leaves_no_trace_of_it(piece: Source) -> None:
    program = "import piece; print(piece.value())"
    assert printed(piece, program, None) == "3"
    cached = sorted((path, path.read_bytes()) for path in piece.path.parent.rglob("*.pyc"))
    assert [printed(piece, program, mutant.name) for mutant in piece.mutants] == ["4", "2"]
    assert sorted((path, path.read_bytes()) for path in piece.path.parent.rglob("*.pyc")) == cached
    assert printed(piece, program, None) == "3"


def test_a_process_that_is_started_has_the_mutant(piece: Source) -> None:
    assert printed(piece, CHILD, piece.mutants[0].name) == "4"


def test_a_file_that_is_loaded_by_another_name_is_the_mutant(piece: Source) -> None:
    path = piece.path.parent / "link.py"
    path.symlink_to(piece.path)
    found = [printed(piece, FROM_FILE, name) for name in (None, piece.mutants[0].name)]
    # Its file is another one by name, and the same by contents.
    assert found == ["3", "4"]


def test_a_name_of_no_mutant_is_an_error(piece: Source) -> None:
    assert "has no mutant" in printed(piece, "print(1)", f"{piece.path}:9 3 -> 4 #1")


def test_a_module_that_is_there_is_an_error(piece: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(piece.path.parent))
    __import__("piece")
    try:
        with pytest.raises(hook.AlreadyImportedError, match="is imported already"):
            hook.install(piece, piece.mutants[0])
    finally:
        del sys.modules["piece"]


def test_the_plugin_gives_tests_the_mutant(piece: Source) -> None:
    (piece.path.parent / "test_piece.py").write_text("import piece\ndef test_it():\n    assert piece.value() == 3\n")
    command = [sys.executable, "-m", "pytest", "-p", "ctm.tb.mutation.plugin", "-q", "test_piece.py"]
    for name, status in ((None, 0), (piece.mutants[0].name, 1)):
        environment = os.environ | ({VARIABLE: name} if name else {})
        result = subprocess.run(command, env=environment, cwd=piece.path.parent, capture_output=True, check=False)
        assert result.returncode == status, result.stdout

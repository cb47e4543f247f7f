"""What the README shows works as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text()


def block(language: str) -> str:
    """The one code block in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_python_example_runs(tmp_path: Path) -> None:
    (tmp_path / "scale.s").write_text(block("asm"))
    program = block("python") + "\nassert (y.read() == 2 * x.read()).all() and y.read().any()\n"
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_every_file_that_it_links_to_is_there() -> None:
    links = re.findall(r"\]\((\S+?)\)", README)
    assert links
    assert all((TOP / link).exists() for link in links), links

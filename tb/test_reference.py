"""The generated reference is what the declarations say."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]


def test_the_reference_of_words_is_up_to_date(tmp_path: Path) -> None:
    program = "from scripts.make_isa_reference import reference; print(reference(), end='')"
    made = subprocess.run([sys.executable, "-c", program], cwd=TOP, capture_output=True, text=True, check=True)
    assert made.stdout == (TOP / "docs" / "isa.md").read_text()

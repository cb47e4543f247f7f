"""The examples of docs/draws.md work."""

import re
import subprocess
import sys
from pathlib import Path

from ctm.rtl.isa.draws import DRAW_COMMANDS
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.jobs.schema import Draw, StreamOutput, VertexBuffer

DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples_draw_at_the_first_try(tmp_path: Path) -> None:
    triangle, geometry = re.findall(r"```python\n(.*?)```", (DOCS / "draws.md").read_text(), re.DOTALL)
    source = tmp_path / "draws.py"
    source.write_text(
        f"{triangle}\nassert target.read()[32, 32].sum() == 2 and (target.read()[0] == 0).all()\n"
        f"target.write(np.zeros((64, 64, 4), np.float32))\n{geometry}\n"
        # Half of a square of 16 pixels each, with its diagonal.
        "covered = target.read()[..., 3] == 1\n"
        "assert covered[:32, :32].sum() == covered[32:, 32:].sum() and 120 <= covered[:32].sum() <= 136\n"
        "assert covered.sum() == 2 * covered[:32].sum()\n"
    )
    subprocess.run([sys.executable, source], check=True)


def test_every_command_and_stage_is_documented() -> None:
    draws, reference = ((DOCS / name).read_text() for name in ("draws.md", "isa-r700.md"))
    assert all(f"| {command.name} |" in reference for command in DRAW_COMMANDS)
    assert all(re.search(rf"\b{stage.name}\b", draws) for stage in DrawStage)


def test_every_key_of_a_draw_is_shown() -> None:
    text = (DOCS / "jobs.md").read_text()
    section = text[text.index("[draw]\n") : text.index("* A kernel")]
    assert all(
        re.search(rf"^{name} = ", section, re.MULTILINE)
        for name in Draw.model_fields
        if name not in ("buffers", "streams")
    )
    for model in (VertexBuffer, StreamOutput):
        assert all(f"{name} = " in section for name in model.model_fields)

"""A folder with a job that works, for tests to run or to break."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctm.rtl.isa.r5xx.opcodes import RgbOperation
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.elf.r5xx.notes import derive_notes
from ctm.tb.r5xx.machine import Instruction, alu, move
from ctm.tb.r5xx.statements import fetch

JOB = """\
[program]
file = "scale.elf"

[domain]
i = [0, 12]
j = [0, 4]

[[inputs]]
index = 0
file = "x.npy"
format = "FLOAT32_4"

[[outputs]]
index = 0
file = "y.npy"
shape = [5, 13]
format = "FLOAT32_4"
fill = 7.0

[constants]
float = {3 = [2.0, 2.0, 2.0, 0.5]}
"""


def executable(instructions: list[Instruction], **information: int) -> bytes:
    """An executable that ends at its last instruction."""
    values = {"end": len(instructions) - 1, "highest_temporary": 7, **information}
    notes = derive_notes(instructions)
    return write(Executable(instructions=tuple(instructions), notes=notes, **values))  # type: ignore[arg-type]


def scale(*, unscaled: int = 1) -> list[Instruction]:
    """r1 = input 0 at (i, j); output 0 = r1 * c3 in R, G, B; alpha is copied."""
    rgb = {"addr0": 1, "addr1": 3, "addr1_const": 1, "sel_b": 1, "rgb_op": RgbOperation.MAD.value}
    rgb |= {f"{color}_swiz_{name}": number for name in "ab" for number, color in enumerate(("red", "green", "blue"))}
    rgb |= {f"{color}_swiz_c": 4 for color in ("red", "green", "blue")}
    multiply = alu(rgb=rgb, type=1, rgb_omask=7, tex_sem_wait=1)
    return [fetch(unscaled=unscaled), multiply, move(0, 1, output=0, rgb_omask=0)]


@dataclass(frozen=True)
class Folder:
    """A folder with job.toml and its files."""

    path: Path
    x: np.ndarray

    @staticmethod
    def make(path: Path) -> "Folder":
        x = np.random.default_rng(11).random((5, 13, 4), np.float32)
        np.save(path / "x.npy", x)
        (path / "scale.elf").write_bytes(executable(scale()))
        (path / "job.toml").write_text(JOB)
        return Folder(path, x)

    @property
    def job(self) -> Path:
        return self.path / "job.toml"

    @property
    def expected(self) -> np.ndarray:
        return self.x * np.array([2, 2, 2, 1], np.float32)

    def change(self, old: str, new: str) -> None:
        """Replace a substring of the job's text, which must be there once."""
        text = self.job.read_text()
        assert text.count(old) == 1
        self.job.write_text(text.replace(old, new))

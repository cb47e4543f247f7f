"""Programs with one mistake each, and the sentence that names it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.tb.jobs.single import single

_INPUT = '[[inputs]]\nindex = {number}\nfile = "x{number}.npy"\nformat = "FLOAT32_4"\n'


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A program over a domain, its inputs of this size, and what comes first in its profile's first sentence.

    `line` is where; `settings` are those of the machine, all of which concern the simulated memory.
    """

    source: str
    sentence: str
    line: int | None = None
    size: tuple[int, int] = (32, 32)
    inputs: int = 0
    constants: str = ""
    file: str = "p.s"
    settings: tuple[tuple[str, int], ...] = ()

    def load(self, folder: Path) -> LoadedJob:
        """The job, made in a folder."""
        width, height = self.size
        (folder / self.file).write_text(self.source)
        more = self.constants and f"[constants]\nfloat = {{{self.constants}}}\n"
        for number in range(self.inputs):
            np.save(folder / f"x{number}.npy", np.random.default_rng(number).random((height, width, 4), np.float32))
            more = _INPUT.format(number=number) + more
        text = single(self.file, width, height, more)
        if not self.file.endswith(".s"):
            text = text.replace("[domain]", 'isa = "r5xx"\n[domain]')
        (folder / "job.toml").write_text(text)
        return load_job(folder / "job.toml")


def lines(count: int, text: str) -> str:
    """A line for each number."""
    return "".join(f"{text.format(number=number, next=number % 8 + 1)}\n" for number in range(count))


_LOOKUP = "TEX r1 = LOOKUP(i0, r0.rg) unscaled sem_wait acquire\n"
_EARLY = "TEX r{next} = LOOKUP(i0, r0.rg) unscaled sem_wait acquire"
_C = """#include <ctm/kernel.h>

kernel void p(vec2 pixel) {
    float x = 0, odd = pixel.x - 2 * floor(pixel.x / 2);
    for (int n = 0; n < 60; n++) {
        if (n >= odd * 60)
            break;
        x = x * x + 1;
    }
    output(0, x);
}
"""
_PYTHON = """from ctm import kernel
from ctm.language import floor, vec2


@kernel
def p(pixel: vec2) -> float:
    odd = pixel.x - 2 * floor(pixel.x / 2)
    x = 0.0
    count = 0.0
    for _ in range(60):
        if count >= odd * 60:
            break
        x = x * x + 1
        count += 1
    return x
"""
DIVERGENT = f"""ALU r1.r = MAD(r0.r, c0.r, 0.0)
ALU r1.r, p.r[!=0] = FRC(r1.r)
IF p.r
{lines(12, "ALU r2.r = MAD(r2.r, c0.g, c0.g)")}ENDIF
OUT o0.r = MOV(r2.r)
"""
PLANTED = {
    "divergence": Planted(
        source=DIVERGENT, sentence="of the lanes do nothing", size=(16, 16), constants="0 = [0.5, 2.0, 1.0, 0.0]"
    ),
    "divergence in C": Planted(source=_C, file="p.c", size=(4, 8), sentence="of the lanes do nothing"),
    "divergence in Python": Planted(source=_PYTHON, file="p.py", size=(4, 8), sentence="of the lanes do nothing"),
    "latency": Planted(
        source=f"{_LOOKUP}OUT o0 = MOV(r1) sem_wait\n", inputs=1, line=2, sentence="too few others work meanwhile"
    ),
    "few wavefronts": Planted(
        source=f"{lines(40, _EARLY)}OUT o0 = MOV(r1) sem_wait\n".replace("r0.rg", "r0.gr"),
        inputs=1, size=(4, 1), sentence="more wavefronts in a launch",
    ),
    "bandwidth": Planted(
        source=f"{_LOOKUP}OUT o0 = MOV(r1) sem_wait\n", inputs=1, line=2, sentence="of the bytes that it can",
        settings=(("memory.bytes_per_cycle", 1),),
    ),
    "one register": Planted(
        source="TEX r1.r = LOOKUP(i0, r0.rg) unscaled\nTEX r1.g = LOOKUP(i1, r0.rg) unscaled\n"
        "TEX r1.b = LOOKUP(i2, r0.rg) unscaled\nOUT o0 = MOV(r1) sem_wait\n",
        inputs=3, line=3, sentence="other channels of r1",
    ),
    "registers": Planted(
        source=f"{_LOOKUP}ALU r33 = MAD(r1, r1, r1) sem_wait\nOUT o0 = MOV(r33)\n", inputs=1,
        sentence="34 registers leave 2 of 4 wave slots",
    ),
    "constants": Planted(
        source="".join(f"ALU r1 = ADD(r0, c{8 * number})\n" for number in range(12)) + "OUT o0 = MOV(r1)\n",
        size=(8, 4), constants=", ".join(f"{8 * number} = [1, 2, 3, 4]" for number in range(12)), line=1,
        sentence="wait for constants",
    ),
    "a short launch": Planted(
        source=f"{lines(200, 'ALU r{next} = MOV(r0)')}OUT o0 = MOV(r1)\n", size=(8, 2), line=1,
        sentence="wait for instructions, which are loaded once",
    ),
}  # fmt: skip
"""By what is wrong; each runs on `ctm.tb.lib.machines.BEATS`."""

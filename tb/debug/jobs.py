"""Jobs of the tests: small domains of examples, and programs of their own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ctm.examples.catalogue import FOLDER
from ctm.rtl.config import R700, TINY, MachineConfig
from ctm.sim.debug.session import Session
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.jobs.schema import Pass
from ctm.tb.jobs.single import single

CONSTANTS = """
[constants]
float = {0 = [0.5, 2.0, 1.0, 0.0]}
int = {0 = [5, 0, 1]}
"""

DIVERGENT = """
; Rounds by column, and a value that is a mistake in one of them.
ALU r1.r = MAD(r0.r, c0.r, 0.0)
ALU r1.r, p.r[!=0] = FRC(r1.r)
IF p.r
    ALU r2.r = MAD(r2.r, c0.g, c0.g)
ELSE
    ALU r2.r = ADD(r2.r, c0.b)
ENDIF
wrong: ALU r2.g = MAD(r0.r, r0.g, 0.0)
OUT o0 = MOV(r2)
"""


LOOP_BY_COLUMN = """
; More rounds for the pixels from column 6 on.
ALU r1.r = ADD(r0.r, -5.5)
REP i0
    ALU r2.r, p.r[>=0] = MOV(r1.r)
    IF p.r
        ALU r2.g = ADD(r2.g, c0.b)
        ALU r2.g = ADD(r2.g, c0.b)
    ENDIF
ENDREP
OUT o0 = MOV(r2)
"""


LONG = "REP i0\n" * 4 + "ALU r1.r = ADD(r1.r, c0.b)\n" + "ENDREP\n" * 4 + "OUT o0 = MOV(r1)\n"
"""Hundreds of rounds for each wavefront."""


def example(name: str, width: int = 64, height: int = 4) -> LoadedJob:
    """An example, of whose domains the lower left is left."""
    job = load_job(FOLDER / f"{name}.toml")

    def smaller(section: Pass) -> Pass:
        (i0, i1), (j0, j1) = section.domain_i, section.domain_j
        update = {"domain_i": (i0, min(i1, i0 + width - 1)), "domain_j": (j0, min(j1, j0 + height - 1))}
        return section.model_copy(update=update)

    launches = tuple(replace(launch, section=smaller(launch.section)) for launch in job.launches)
    return replace(job, launches=launches)


def program(source: str, folder: Path, *, width: int = 8, height: int = 4) -> LoadedJob:
    """A program of its own, with one output."""
    (folder / "p.s").write_text(source)
    (folder / "job.toml").write_text(single("p.s", width, height, CONSTANTS))
    return load_job(folder / "job.toml")


def config_of(job: LoadedJob) -> MachineConfig:
    """A machine for a job."""
    return R700 if job.kinds[0] == "r700" else TINY


def session_of(job: LoadedJob, **options: Any) -> Session:
    return Session(job, config_of(job), **options)


RACE = """.isa r700
.type ps
.memory

; Each pixel writes its own element, and reads that of its neighbour.
FLT_TO_INT R1.x, R0.x
FLT_TO_INT R1.y, R0.y
LSHL_INT R1.y, R1.y, 3
ADD_INT R1.x, R1.x, R1.y
XOR_INT R2.x, R1.x, 1
MEM_EXPORT R0.x___, [0+R1] ACK
WAIT_ACK
RD_SCATTER R3.x___, [0+R2.x] UNCACHED
MEM_EXPORT R3.x___, [0+R1]
"""


def race(folder: Path) -> LoadedJob:
    """A program whose pixels read what others write."""
    program(RACE, folder)
    job = folder / "job.toml"
    job.write_text(job.read_text().replace("FLOAT32_4", "FLOAT32_1"))
    return load_job(job)

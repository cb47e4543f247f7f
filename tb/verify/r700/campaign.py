"""Random R700 programs on the compiled machine, compared with the golden model after every instruction."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from ctm.rtl.config import R700, MachineConfig
from ctm.rtl.isa.host import COUNTERS
from ctm.sim.assembler import disassemble
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.engines.model import Disturbance
from ctm.sim.engines.tracing.engine import TracedMachine, library
from ctm.sim.fault import CycleLimitError
from ctm.tb.r700.hardware.drawn import DRAWN
from ctm.tb.r700.hardware.lockstep import Difference, compare
from ctm.tb.r700.hardware.traced import TracedEngine
from ctm.tb.r700.machine import Job, run_golden
from ctm.tb.verify.campaign import Campaign, Case, Found, Tables
from ctm.tb.verify.coverage.aims import aims
from ctm.tb.verify.domains import smaller
from ctm.tb.verify.hazards import is_defined
from ctm.tb.verify.r700.aimed import aimed_job
from ctm.tb.verify.r700.events import OPERATIONS, events, tables
from ctm.tb.verify.r700.program import Program, assembled, code_of

CACHES = "R700 caches and counters"
_AIMED = "operations"
_KINDS = (*DRAWN, _AIMED)
"""Of each a fifth of the seeds."""
_AIMS = 48
"""Cells of the table of operations that a program of this kind is drawn for."""
_MOST_CYCLES = 250_000
"""Five times as many as the longest drawn program takes."""
_CYCLES_OF_A_START, _CYCLES_OF_AN_INSTRUCTION = 5_000, 300
"""What an opened case may take: a reduction that meets a hang is to go on soon."""
_MEMORIES = ((0, 0.0), (20, 0.3), (200, 0.0))
"""Jitter and stalls of the memory, one for each seed."""
_MOST_INSTRUCTIONS = 3_000
"""Of a wavefront of a reduced program, which may have lost the end of a loop."""


class R700Campaign(Campaign):
    """See the module."""

    name = "r700"
    about = "random R700 programs in lock-step on the compiled machine"
    batch = 24
    enough = 12_000
    has_model = True

    def model(self) -> Path:
        """See `Campaign.model`."""
        return _model()

    def run(self, case: Case) -> Found:
        """See `Campaign.run`."""
        job = _built(case)
        if job is None:
            return Found()
        engine = _engine()
        jitter, stall = case.get("memory", _MEMORIES[case["seed"] % len(_MEMORIES)])
        engine.restart(Disturbance(jitter=jitter, stall=stall, seed=case["seed"]))
        engine.most_cycles = _limit(job) if "program" in case else _MOST_CYCLES
        before = engine.report().counters
        try:
            _, records = compare(job, engine)
        except (Difference, AssertionError, CycleLimitError, TimeoutError) as difference:
            where = f"{_KINDS[case['seed'] % len(_KINDS)]}, jitter {jitter}, stall {stall}"
            return Found(f"{where}: {difference}", _kind(difference))
        assert isinstance(job.program, Executable)
        found = events(job, code_of(job.program), records.values())
        counted = {name for name, value in engine.report().counters.items() if value != before[name]}
        return Found(events=Counter(found | {f"{CACHES}|{name}" for name in counted}))

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        return {**tables(), CACHES: [name.lower() for name in COUNTERS]}

    def opened(self, case: Case) -> Case:
        """See `Campaign.opened`."""
        job = _built(case)
        if job is None:
            return case
        assert isinstance(job.program, Executable)
        return {
            "seed": case["seed"], "program": disassemble(job.program).splitlines(), "domain": list(job.domain),
            "watchdog": min(job.watchdog, _MOST_INSTRUCTIONS), "memory": _MEMORIES[case["seed"] % len(_MEMORIES)],
        }  # fmt: skip

    def size(self, case: Case) -> int:
        """See `Campaign.size`: CF instructions, groups and fetches."""
        return Program(assembled(_text(case))).size if "program" in case else 0

    def kept(self, case: Case, items: Sequence[int]) -> Case | None:
        """See `Campaign.kept`."""
        found = Program(assembled(_text(case))).kept(items)
        return None if found is None else {**case, "program": disassemble(found).splitlines()}

    def simpler(self, case: Case) -> Iterator[Case]:
        """See `Campaign.simpler`: a domain of fewer pixels, then a memory without jitter and stalls."""
        yield from ({**case, "domain": domain} for domain in smaller(case["domain"]))
        if tuple(case["memory"]) != _MEMORIES[0]:
            yield {**case, "memory": _MEMORIES[0]}

    def is_defined(self, case: Case) -> bool:
        """See `Campaign.is_defined`: whether what is read is there, and is not written by other wavefronts."""
        job = _built(case)
        assert job is not None
        return is_defined(run_golden(replace(job.on(R700.array.wavefront_lanes), hazards=True)).error)


@cache
def _model() -> Path:
    """The compiled model; looking for it takes as long as making a machine of it."""
    return library(R700)


class _Engine(TracedEngine):
    """An engine whose machine can be made anew: a case begins in the same state, whatever ran before."""

    reset_looks = 10_000
    """A fault may keep a machine in its reset: a million looks, as usual, take half a minute."""

    def make_machine(self, config: MachineConfig) -> TracedMachine:
        """See `CompiledEngine.make_machine`."""
        self.traced = TracedMachine(_model(), config, self.memory, self.disturbance)
        return self.traced

    def restart(self, disturbance: Disturbance) -> None:
        """Take another machine with a memory that is disturbed so."""
        self.disturbance = disturbance
        self._machine = self.make_machine(self.config)
        self._seen = dict.fromkeys(COUNTERS, 0)
        self._prepare()


@cache
def _engine() -> _Engine:
    return _Engine(R700)


@lru_cache(maxsize=1)
def _drawn(seed: int) -> Job | None:
    """The drawn job of a seed: a reduction builds it again and again. None: the hardware does not support it."""
    number, kind = divmod(seed, len(_KINDS))
    if _KINDS[kind] == _AIMED:
        return aimed_job(number, aims(tables()[OPERATIONS], number, _AIMS))
    return DRAWN[_KINDS[kind]](number)


def _text(case: Case) -> str:
    return "\n".join(case["program"])


def _built(case: Case) -> Job | None:
    """What runs."""
    job = _drawn(case["seed"])
    if job is None or "program" not in case:
        return job
    i0, j0, i1, j1 = case["domain"]
    covered = None if job.covered is None else job.covered[: j1 + 1, : i1 + 1]
    return replace(
        job, program=assembled(_text(case)), domain=(i0, j0, i1, j1), covered=covered, watchdog=case["watchdog"]
    )  # fmt: skip


def _limit(job: Job) -> int:
    """Cycles that an opened case may take."""
    instructions = run_golden(job.on(R700.array.wavefront_lanes)).instructions
    return min(_MOST_CYCLES, _CYCLES_OF_A_START + _CYCLES_OF_AN_INSTRUCTION * instructions)


def _kind(difference: Exception) -> str:
    if isinstance(difference, Difference):
        return "step"
    return "memory" if isinstance(difference, AssertionError) else type(difference).__name__

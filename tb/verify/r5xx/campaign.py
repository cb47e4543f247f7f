"""Random R5xx programs on the compiled core, compared with the golden model after every instruction."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ctm.rtl.config import DEFAULT
from ctm.sim.assembler import disassemble
from ctm.sim.elf import write
from ctm.sim.runtime import CommandBuffer
from ctm.tb.r5xx.core_engine import simulation
from ctm.tb.r5xx.golden_record import record
from ctm.tb.r5xx.lockstep import TIMINGS, Difference, compare
from ctm.tb.r5xx.programs.flow import random_flow_case
from ctm.tb.r5xx.random_cases import Case as Drawn
from ctm.tb.r5xx.random_cases import random_case
from ctm.tb.r5xx.simulation.simulation import ProtocolError, Timing
from ctm.tb.verify.campaign import Campaign, Case, Found, Tables
from ctm.tb.verify.coverage.aims import aims
from ctm.tb.verify.domains import smaller
from ctm.tb.verify.r5xx.aimed import aimed_case
from ctm.tb.verify.r5xx.events import OPERATIONS, events, tables
from ctm.tb.verify.r5xx.program import assembled, kept, own_instructions

_LANES = DEFAULT.array.lanes
_KINDS = 4
"""Of four seeds two are programs of everything, one is drawn for cells of the table of operations, one is flow."""
_AIMED, _FLOW = 2, 3
_AIMS = 24
"""Cells that a program is drawn for."""
_MOST_CYCLES = 60_000
"""Ten times as many as the longest drawn program takes."""
_MOST_INSTRUCTIONS = 3_000
"""Of a wavefront of a reduced program, which may have lost the end of a loop."""


class R5xxCampaign(Campaign):
    """See the module."""

    name = "r5xx"
    about = "random R5xx programs in lock-step on the compiled core"
    batch = 60
    enough = 12_000
    has_model = True

    def model(self) -> Path:
        """See `Campaign.model`."""
        return Path(simulation(DEFAULT).library._name)

    def run(self, case: Case) -> Found:
        """See `Campaign.run`."""
        built, timing = _built(case), _timing(case)
        try:
            expected = compare(simulation(DEFAULT), built, timing=timing, max_cycles=_MOST_CYCLES)
        except (Difference, TimeoutError, ProtocolError) as difference:
            kind = "memory" if str(difference).startswith("memory") else type(difference).__name__
            return Found(f"{timing}: {difference}", kind)
        return Found(events=Counter(set(events(built.launch()[0], expected))))

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        return tables()

    def opened(self, case: Case) -> Case:
        """See `Campaign.opened`."""
        built, timing = _built(case), _timing(case)
        return {
            "seed": case["seed"], "program": disassemble(built.executable).splitlines(), "domain": _domain(built),
            "watchdog": built.watchdog or _MOST_INSTRUCTIONS,
            "timing": {"latency": timing.latency, "jitter": timing.jitter, "stall": timing.stall},
        }  # fmt: skip

    def size(self, case: Case) -> int:
        """See `Campaign.size`."""
        return len(own_instructions(assembled(_text(case)))) if "program" in case else 0

    def kept(self, case: Case, items: Sequence[int]) -> Case | None:
        """See `Campaign.kept`."""
        found = kept(assembled(_text(case)), items)
        return None if found is None else {**case, "program": disassemble(found).splitlines()}

    def simpler(self, case: Case) -> Iterator[Case]:
        """See `Campaign.simpler`: a domain of fewer pixels, then a memory that responds at once."""
        yield from ({**case, "domain": domain} for domain in smaller(case["domain"]))
        plain = {"latency": 1, "jitter": 0, "stall": 0.0}
        if case["timing"] != plain:
            yield {**case, "timing": plain}

    def is_defined(self, case: Case) -> bool:
        """See `Campaign.is_defined`: whether no value is read before it is delivered."""
        return not record(*_built(case).launch()).hazards


@lru_cache(maxsize=1)
def _drawn(seed: int) -> Drawn:
    """The drawn case of a seed: a reduction builds it again and again."""
    number, kind = divmod(seed, _KINDS)
    if kind == _FLOW:
        return random_flow_case(seed, lanes=_LANES)
    if kind == _AIMED:
        return aimed_case(seed, aims(tables()[OPERATIONS], number, _AIMS), lanes=_LANES)
    return random_case(seed, lanes=_LANES)


def _text(case: Case) -> str:
    return "\n".join(case["program"])


def _built(case: Case) -> Drawn:
    """What runs."""
    drawn = _drawn(case["seed"])
    if "program" not in case:
        return drawn
    executable, before = assembled(_text(case)), write(drawn.executable)
    contents = tuple(
        (address, write(executable) if data == before else data) for address, data in drawn.contents
    )  # fmt: skip
    commands = CommandBuffer()
    commands.words += drawn.commands.words
    commands.set_domain(*case["domain"])
    return replace(
        drawn, executable=executable, contents=contents, commands=commands, watchdog=case["watchdog"]
    )  # fmt: skip


def _timing(case: Case) -> Timing:
    fields: dict[str, Any] = case.get("timing", {})
    drawn = TIMINGS[case["seed"] % len(TIMINGS)]
    return replace(drawn, seed=case["seed"], **fields)


def _domain(built: Drawn) -> list[int]:
    """The corners of the covered pixels: i0, j0, i1, j1."""
    corners: list[int] = []
    for order, i, j, covered in built.launch()[1]:
        del order
        if covered.any():
            own = [int(i[covered].min()), int(j[covered].min()), int(i[covered].max()), int(j[covered].max())]
            pairs = list(zip(corners, own, strict=True)) if corners else [(each, each) for each in own]
            corners = [*(min(pair) for pair in pairs[:2]), *(max(pair) for pair in pairs[2:])]
    return corners

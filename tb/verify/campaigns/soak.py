"""Random command buffers on the whole compiled machine, compared with the golden model in errors and in memory."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ctm.rtl.config import DEFAULT, R700, MachineConfig
from ctm.rtl.isa.host import COUNTERS
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.assembler import disassemble
from ctm.sim.elf import ElfError, read, write
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.rtl import RtlEngine, supply
from ctm.sim.fault import MachineError
from ctm.tb.soak.comparison import MOST_CYCLES, Comparison, Outcome
from ctm.tb.soak.programs import R5XX
from ctm.tb.soak.r700 import R700 as R700_SOURCE
from ctm.tb.soak.work import Work, draw_work
from ctm.tb.verify.campaign import Campaign, Case, Found, Tables
from ctm.tb.verify.hazards import is_defined
from ctm.tb.verify.r5xx import program as r5xx
from ctm.tb.verify.r700 import program as r700

_MACHINES = {"r5xx": (DEFAULT, R5XX), "r700": (R700, R700_SOURCE)}
_NEVER = (Status.HAZARD, Status.QUEUE_FULL, Status.RESET)
"""Statuses that only a driver or the golden model meets."""

_MOST_CYCLES_OPENED = 400_000
"""Of a buffer of an opened case: a reduction that meets a hang is to go on soon."""
_SIGNS = {"memory": "memory differs", "hang": "hangs", "counts": "'lane_instructions'"}
"""What a message of each kind has."""


class SoakCampaign(Campaign):
    """See the module. An opened case has the programs of the work by their address, and the buffers that are run."""

    batch = 30
    enough = 10_000
    has_model = True

    def __init__(self, isa: str) -> None:
        self.name = f"soak-{isa}"
        self.about = f"random command buffers on the whole compiled machine with {isa} cores"
        self._config, self._source = _MACHINES[isa]

    def model(self) -> Path:
        """See `Campaign.model`."""
        return _model(self._config)

    def config(self, case: Case) -> MachineConfig:
        """The machine of a case."""
        return self._config

    def run(self, case: Case) -> Found:
        """See `Campaign.run`."""
        config = self.config(case)
        _model(config)
        most_cycles = _MOST_CYCLES_OPENED if "programs" in case else MOST_CYCLES
        comparison = Comparison(self._work(case), config, most_cycles=most_cycles)
        try:
            outcomes = comparison.run()
        except (AssertionError, TimeoutError) as difference:
            text = str(difference)
            return Found(text, next((kind for kind, sign in _SIGNS.items() if sign in text), "outcome"))
        return Found(events=Counter(set(self._events(comparison, outcomes))))

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        statuses = [status.name for status in Status if status not in _NEVER and status is not Status.BUS_ERROR]
        clients = [f"{Status.BUS_ERROR.name} / {client.name}" for client in BusClient]
        return {
            f"{self.name} faults": [*statuses, *clients],
            f"{self.name} caches and counters": [name.lower() for name in COUNTERS],
        }

    def opened(self, case: Case) -> Case:
        """See `Campaign.opened`."""
        work = self._work(case)
        programs = {str(address): disassemble(each).splitlines() for address, each in _programs(work)}
        return {**case, "programs": programs, "buffers": list(range(len(work.buffers)))}

    def size(self, case: Case) -> int:
        """See `Campaign.size`: buffers, and instructions of all programs."""
        return len(_items(case)) if "programs" in case else 0

    def kept(self, case: Case, items: Sequence[int]) -> Case | None:
        """See `Campaign.kept`."""
        chosen: dict[str, list[int]] = {}
        listed = _items(case)
        for item in items:
            name, number = listed[item]
            chosen.setdefault(name, []).append(number)
        buffers = chosen.pop("", [])
        if not buffers:
            return None
        programs = {}
        for address, lines in case["programs"].items():
            left = _kept("\n".join(lines), chosen.get(address, []))
            if left is None:
                return None
            programs[address] = left.splitlines()
        return {**case, "programs": programs, "buffers": buffers}

    def is_defined(self, case: Case) -> bool:
        """See `Campaign.is_defined`: whether no value is read before it is there, as far as the model sees it."""
        work = self._work(case)
        model = GoldenEngine(self.config(case), watchdog=work.watchdog, hazards=True)
        for address, data in work.contents:
            model.memory.write(address, data)
        for first, end in work.error_ranges:
            model.memory.respond_with_errors(first, end)
        for buffer in work.buffers:
            try:
                model.execute(buffer.address, buffer.dwords)
            except MachineError as error:
                if not is_defined(error):
                    return False
        return True

    def _work(self, case: Case) -> Work:
        work = _drawn(case["seed"], self._source.kind)
        if "programs" not in case:
            return work
        images = {int(address): write(_assembled("\n".join(lines))) for address, lines in case["programs"].items()}
        contents = [(address, images.get(address, data)) for address, data in work.contents]
        return replace(work, contents=contents, buffers=[work.buffers[number] for number in case["buffers"]])

    def _events(self, comparison: Comparison, outcomes: Sequence[Outcome]) -> Iterator[str]:
        for outcome in outcomes:
            client = "" if outcome.client is None else f" / {outcome.client.name}"
            yield f"{self.name} faults|{outcome.status.name}{client}"
        counters: Mapping[str, int] = comparison.machine.report().counters
        yield from (f"{self.name} caches and counters|{name}" for name, value in counters.items() if value)


@cache
def _model(config: MachineConfig) -> Path:
    """The compiled machine, for all engines of this process."""
    path = RtlEngine.library(config)
    supply(config, lambda: path)
    return path


@lru_cache(maxsize=1)
def _drawn(seed: int, kind: str) -> Work:
    """The work of a seed: a reduction uses it again and again."""
    return draw_work(seed, _MACHINES[kind][1])


def _programs(work: Work) -> Iterator[tuple[int, Any]]:
    """Executables in memory, by their address; those that are damaged are none."""
    for address, data in work.contents:
        if data.startswith(b"\x7fELF"):
            try:
                yield address, read(data)
            except (ElfError, ValueError):
                continue


def _assembled(text: str) -> Any:
    return (r700 if ".isa r700" in text else r5xx).assembled(text)


def _items(case: Case) -> list[tuple[str, int]]:
    """What can be taken out: instructions by their program's address, then buffers, whose address is empty."""
    found: list[tuple[str, int]] = []
    for address, lines in case["programs"].items():
        program = _assembled("\n".join(lines))
        is_r700 = isinstance(program, R700Executable)
        size = r700.Program(program).size if is_r700 else len(r5xx.own_instructions(program))
        found += [(address, number) for number in range(size)]
    return found + [("", number) for number in case["buffers"]]


@lru_cache(maxsize=64)
def _disassembled(program: Any) -> str:
    return disassemble(program)


def _kept(text: str, items: list[int]) -> str | None:
    program = _assembled(text)
    left = r700.Program(program).kept(items) if isinstance(program, R700Executable) else r5xx.kept(program, items)
    return None if left is None else _disassembled(left)

"""Launch: `PROGRAM` follows from program information and commands, and illegal programs have their status."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value
from amaranth.sim import Simulator

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.isa.status import Status
from ctm.rtl.r700.launch import Launch

CASES = 400
WORDS, INPUTS, OUTPUTS = 16, 16, 4
TYPE, START, GPRS, STACK, FLAGS, BASE, SHARE = range(1, 8)
"""Words of a program information; the first is its version, words after these are 0."""
CLAMP, DEPTH, MEMORY, SCRATCH = range(4)
"""Flags."""
AREAS = {MEMORY: 0, SCRATCH: 3}
"""The output that is an area of a program with these flags."""
RESOURCES = range(256)
"""What a RESOURCE_ID can be."""
UNITS = 8192

Buffer = dict[str, Any]


def _extent(buffer: Buffer) -> dict[str, int]:
    return {"pitch": buffer["pitch"], "height": buffer["height"]}


def _limits(buffer: Buffer) -> dict[str, int]:
    return {"width": min(buffer["pitch"], COORDINATE_LIMIT), "height": min(buffer["height"], COORDINATE_LIMIT)}


class Case:
    """A program, and what commands have set; as drawn it may be launched more often than not."""

    def __init__(self, draw: np.random.Generator) -> None:
        self._draw = draw
        self.code = 4 * int(draw.integers(1 << 30))
        self.size = int(draw.choice([1, 2, UNITS, int(draw.integers(1, UNITS))]))
        self.words = self._legal()
        if draw.random() < 0.4:
            at = self._of(*range(TYPE, BASE), SHARE, int(draw.integers(SHARE + 1, WORDS)))
            self.words[at] = self._other(at)
        self.inputs, self.outputs = ([self._buffer() for _ in range(count)] for count in (INPUTS, OUTPUTS))
        first, last = np.sort(draw.integers(0, 4096, (2, 2)), axis=0).tolist()
        self.domain = dict(zip(("i0", "j0", "i1", "j1"), (*first, *last), strict=True))
        if draw.random() < 0.1:
            self.domain = {"i0": 0, "j0": 0, "i1": 4095, "j1": 4095}
        self.set = {name: int(draw.integers(limit)) for name, limit in
                    (("tests", 2), ("conditional_value", 1 << 32), ("watchdog", 1 << 32))}  # fmt: skip

    def _of(self, *values: int) -> int:
        return int(self._draw.choice(values))

    def _below(self, limit: int) -> int:
        return int(self._draw.integers(limit))

    def _legal(self) -> list[int]:
        """Words of a program that may be launched."""
        words = [0x700] + [0] * (WORDS - 1)
        words[TYPE] = self._below(2)
        words[START] = self._of(0, self.size - 1, self._below(self.size))
        words[GPRS] = self._of(1, 124, 1 + self._below(124))
        words[STACK] = self._of(0, 64, self._below(65))
        words[FLAGS] = self._below(16)
        words[BASE] = self._of(0, 18, 255, 256, 257, self._below(300), self._below(1 << 32))
        words[SHARE] = self._of(0, 4, 1024, 4 * self._below(257))
        return words

    def _other(self, at: int) -> int:
        """A word that is not allowed, or just so."""
        beside = {
            TYPE: (2, 3, 1 << 31),
            START: (self.size, self.size + 1, 1 << 14, 1 << 16, 1 << 31),
            GPRS: (0, 125, 128, 256, 257, 1 << 31),
            STACK: (65, 128, 256, 1 << 31),
            FLAGS: (16, 17, 32, 1 << 31),
            SHARE: (1, 2, 1023, 1028, 2048, 1 << 31),
        }
        return self._of(*beside.get(at, (1, 1 << 31)))

    def _buffer(self) -> Buffer:
        draw = self._draw
        kind = DataFormat.FLOAT32_1 if draw.random() < 0.7 else list(DataFormat)[self._below(len(DataFormat))]
        return {
            "base": self._below(1 << 21), "pitch": self._below(8192), "height": self._below(8192),
            "format": kind, "tiled": int(draw.random() < 0.15),
            "gathers": self._below(2), "stride": self._below(1 << 12),
        }  # fmt: skip

    def has(self, flag: int) -> bool:
        """Whether a flag is set."""
        return bool(self.words[FLAGS] >> flag & 1)

    @property
    def status(self) -> Status:
        """Whether it may be launched."""
        words = self.words
        allowed = (
            words[TYPE] <= 1
            and words[START] < self.size
            and 1 <= words[GPRS] <= 124
            and words[STACK] <= 64
            and words[FLAGS] < 16
            and words[SHARE] <= 1024
            and words[SHARE] % 4 == 0
            and not any(words[SHARE + 1 :])
        )
        if not allowed:
            return Status.BAD_EXECUTABLE
        for flag, number in AREAS.items():
            output = self.outputs[number]
            if self.has(flag) and (output["format"] is not DataFormat.FLOAT32_1 or output["tiled"]):
                return Status.BAD_UMRT_FORMAT
        return Status.OK

    @property
    def program(self) -> dict[str, Any]:
        """What the cores are told, but for the inputs and the texture base."""
        words, domain = self.words, self.domain
        return {
            "size": self.size, "start": words[START], "code": self.code, "type": list(ProgramType)[words[TYPE]].value,
            "gprs": words[GPRS], "stack": 4 * words[STACK], "share": words[SHARE] // 4,
            "dx10_clamp": self.has(CLAMP), "conditional_from_program": self.has(DEPTH),
            "memory": self.has(MEMORY), "scratch": self.has(SCRATCH), **self.set,
            "domain": {
                "i0": domain["i0"], "j0": domain["j0"],
                "width": domain["i1"] - domain["i0"] + 1, "height": domain["j1"] - domain["j0"] + 1,
            },
            "output": _limits(self.outputs[0]),
            "areas": [
                {"limits": _limits(self.outputs[number]), "stride": self.outputs[number]["stride"]}
                for number in AREAS.values()
            ],
            "inputs": [_extent(each) for each in self.inputs],
        }  # fmt: skip


def drive(context: Any, unit: Any, case: Case) -> None:
    """Give the unit a case."""
    context.set(unit.processor.image, {"code": case.code, "size": case.size, "information": case.words})
    context.set(unit.inputs, [_extent(each) for each in case.inputs])
    context.set(unit.outputs, case.outputs)
    context.set(unit.processor.domain, case.domain)
    for name, value in case.set.items():
        context.set(getattr(unit.processor if name == "conditional_value" else unit, name), value)


def same(found: Any, expected: Any, name: str) -> None:
    """Compare fields, nested ones too."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            same(found[key], value, f"{name}.{key}")
    elif isinstance(expected, list):
        for number, value in enumerate(expected):
            same(found[number], value, f"{name}[{number}]")
    else:
        value = getattr(found, "value", found)
        assert value == int(expected), f"{name} is {value}, not {expected}"


def check(seed: int, cases: int) -> None:
    """So many programs."""
    unit: Any = Launch()
    draw = np.random.default_rng(seed)
    seen = dict.fromkeys((Status.OK, Status.BAD_EXECUTABLE, Status.BAD_UMRT_FORMAT), 0)

    async def run(context: Any) -> None:
        for _ in range(cases):
            case = Case(draw)
            drive(context, unit, case)
            status = context.get(unit.processor.status)
            assert status is case.status, f"{status} is not {case.status}: {case.words}"
            seen[status] += 1
            if status is Status.OK:
                same(context.get(unit.program), case.program, "program")
                # No resource is an input that is none, and each has its own number.
                base = context.get(Value.cast(unit.program.texture_base))
                inputs = {each: each - case.words[BASE] for each in RESOURCES if 0 <= each - case.words[BASE] < INPUTS}
                assert {each: each - base for each in RESOURCES if 0 <= each - base < INPUTS} == inputs

    simulator = Simulator(unit)
    simulator.add_testbench(run)
    simulator.run()
    assert min(seen.values()) > cases // 20, seen


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, CASES)


@pytest.mark.slow
def test_programs_are_launched_or_illegal() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_programs(seed: int) -> None:
    check(seed, 3_000)

"""WavefrontStates against a record for each wavefront."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.state import WavefrontStates, wavefront_state_layout
from ctm.rtl.isa.word import fields, unpack
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CYCLES = fewer(300)
READERS = 3


def random_fields(generator: np.random.Generator, layout: Any) -> dict[str, int]:
    """A record with random bits, as integers by field."""
    sizes = {name: width for name, _, width in fields(layout)}
    return {name: int.from_bytes(generator.bytes(-(-width // 8)), "little") % (1 << width)
            for name, width in sizes.items()}  # fmt: skip


def assembled(layout: Any, record: dict[str, int]) -> int:
    return sum(record[name] << offset for name, offset, _ in fields(layout))


class Model:
    """A record for each context, by field, and which of its two contexts each wave slot has.

    A record has no stacks while they are undefined. Of the wave slot's other context only those fields are right that
    contexts keep.
    """

    def __init__(self, shapes: Shapes, lanes: int, threads: int, generator: np.random.Generator) -> None:
        self._generator, self._all_lanes = generator, (1 << lanes) - 1
        self.wavefront, self.stacks = wavefront_state_layout(shapes, lanes), shapes.stacks(lanes)
        self._layout, self._first = wavefront_layout(lanes), shapes.first_control(lanes)
        self._fields = {"control": ("control", "stacks"), "flags": ("flags",)}
        self._layouts = {"control": shapes.control(lanes), "stacks": self.stacks, "flags": shapes.flags(lanes)}
        self._threads, self.second = threads, [0] * threads
        self.records: list[dict[str, int]] = [self._empty() for _ in range(2 * threads)]

    def _empty(self) -> dict[str, int]:
        return {name: 0 for name, _, _ in fields(self.wavefront)}

    def context(self, wave: int) -> int:
        """The context of the wave slot's wavefront."""
        return wave + self._threads * self.second[wave]

    def apply(self, name: str, wave: int) -> dict[str, int]:
        """Change a record at random; the payload of the port of that name."""
        if name == "start":
            taken = random_fields(self._generator, self._layout)
            self.second[wave] ^= 1
            self.records[self.context(wave)] = self._empty() | taken | {"valid_mask": self._all_lanes, **self._first}
            return {"context": self.context(wave), "wavefront": assembled(self._layout, taken)}
        if name == "valid_mask":
            self.records[self.context(wave)]["valid_mask"] = valid_mask = int(
                self._generator.integers(self._all_lanes + 1)
            )
            return {"wave": wave, "valid_mask": valid_mask}
        written = {"wave": wave}
        for field in self._fields[name]:
            news = random_fields(self._generator, self._layouts[field])
            self.records[self.context(wave)] |= news
            written[field] = assembled(self._layouts[field], news)
        return written


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize("lanes", [4, 8])
def test_every_write_changes_its_own_fields_of_its_own_wave_slot(instruction_set, lanes):
    generator, shapes = np.random.default_rng(lanes), SHAPES[instruction_set]
    config = ArrayConfig(lanes=lanes, threads=8, temporaries=128)
    unit, model = WavefrontStates(config, shapes, READERS), Model(shapes, lanes, config.threads, generator)
    shares = {"start": 0.2, "control": 0.5, "valid_mask": 0.5, "flags": 0.5}
    counts = dict.fromkeys([*shares, "stacks"], 0)

    def write(context: Any) -> None:
        # A wavefront that starts is in no port: nothing else changes its wave slot.
        started, *others = generator.permutation(config.threads)[:4].tolist()
        for name, share in shares.items():
            port, wave = getattr(unit, name), started if name == "start" else int(generator.choice(others))
            valid = bool(generator.random() < share)
            context.set(port.valid, valid)
            if valid:
                counts[name] += 1
                for key, value in model.apply(name, wave).items():
                    context.set(Value.cast(port[key]), value)

    async def testbench(context: Any) -> None:
        waves = [0] * (READERS + 1)
        for _ in range(CYCLES):
            upcoming = generator.integers(0, config.threads, READERS + 1).tolist()
            banks = generator.integers(0, 2 * config.threads, len(unit.ended)).tolist()
            reads = generator.integers(0, 2, READERS).tolist()
            context.set(unit.second, sum(bit << wave for wave, bit in enumerate(model.second)))
            ports = (*unit.waves, unit.stacks_wave, *unit.ended_contexts, *unit.reads)
            for port, number in zip(ports, (*upcoming, *banks, *reads), strict=True):
                context.set(port, number)
            before = [dict(model.records[bank]) for bank in (*map(model.context, waves), *banks)]
            wavefronts, stacks, ended = before[:READERS], before[READERS], before[READERS + 1 :]
            write(context)
            for found, record in zip((*unit.wavefronts, *unit.ended), (*wavefronts, *ended), strict=True):
                assert unpack(found.shape(), context.get(Value.cast(found))).items() <= record.items()
            if stacks.keys() >= dict(model.stacks).keys():
                counts["stacks"] += 1
                assert unpack(model.stacks, context.get(Value.cast(unit.stacks))).items() <= stacks.items()
            await context.tick()
            waves = [new if read else old for new, old, read in zip(upcoming, waves, [*reads, True], strict=True)]

    simulate(unit, testbench)
    assert min(counts.values()) > CYCLES / 10

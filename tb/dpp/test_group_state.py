"""GroupStates against a record for each group."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.state import GroupStates, group_state_layout
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.word import fields, unpack
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.lib.streams import simulate

CYCLES = 300
READERS = 3


def random_fields(generator: np.random.Generator, layout: Any) -> dict[str, int]:
    """A record with random bits, as integers by field."""
    sizes = {name: width for name, _, width in fields(layout)}
    return {name: int.from_bytes(generator.bytes(-(-width // 8)), "little") % (1 << width)
            for name, width in sizes.items()}  # fmt: skip


def assembled(layout: Any, record: dict[str, int]) -> int:
    return sum(record[name] << offset for name, offset, _ in fields(layout))


class Model:
    """A record for each row, by field, and which of its two rows each slot has.

    Without stacks as long as they mean nothing. A record of the slot's other row is right in what rows keep.
    """

    def __init__(self, shapes: Shapes, lanes: int, threads: int, generator: np.random.Generator) -> None:
        self._generator, self._everybody = generator, (1 << lanes) - 1
        self.group, self.stacks = group_state_layout(shapes, lanes), shapes.stacks(lanes)
        self._place, self._first = wavefront_layout(lanes), shapes.first_control(lanes)
        self._parts = {"control": ("control", "stacks"), "flags": ("flags",)}
        self._layouts = {"control": shapes.control(lanes), "stacks": self.stacks, "flags": shapes.flags(lanes)}
        self._threads, self.second = threads, [0] * threads
        self.records: list[dict[str, int]] = [self._empty() for _ in range(2 * threads)]

    def _empty(self) -> dict[str, int]:
        return {name: 0 for name, _, _ in fields(self.group)}

    def row(self, slot: int) -> int:
        """Of the slot's group."""
        return slot + self._threads * self.second[slot]

    def apply(self, name: str, slot: int) -> dict[str, int]:
        """Change a record at random; what the port of that name takes."""
        if name == "start":
            place = random_fields(self._generator, self._place)
            self.second[slot] ^= 1
            self.records[self.row(slot)] = self._empty() | place | {"valid_mask": self._everybody, **self._first}
            return {"row": self.row(slot), "group": assembled(self._place, place)}
        if name == "valid_mask":
            self.records[self.row(slot)]["valid_mask"] = valid_mask = int(self._generator.integers(self._everybody + 1))
            return {"slot": slot, "valid_mask": valid_mask}
        written = {"slot": slot}
        for part in self._parts[name]:
            news = random_fields(self._generator, self._layouts[part])
            self.records[self.row(slot)] |= news
            written[part] = assembled(self._layouts[part], news)
        return written


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize("lanes", [4, 8])
def test_every_write_changes_its_own_fields_of_its_own_slot(instruction_set, lanes):
    generator, shapes = np.random.default_rng(lanes), SHAPES[instruction_set]
    config = ArrayConfig(lanes=lanes, threads=8, temporaries=128)
    unit, model = GroupStates(config, shapes, READERS), Model(shapes, lanes, config.threads, generator)
    shares = {"start": 0.2, "control": 0.5, "valid_mask": 0.5, "flags": 0.5}
    counts = dict.fromkeys([*shares, "stacks"], 0)

    def write(context: Any) -> None:
        # A group that starts is in no port: nothing else changes its slot.
        started, *others = generator.permutation(config.threads)[:4].tolist()
        for name, share in shares.items():
            port, slot = getattr(unit, name), started if name == "start" else int(generator.choice(others))
            valid = bool(generator.random() < share)
            context.set(port.valid, valid)
            if valid:
                counts[name] += 1
                for key, value in model.apply(name, slot).items():
                    context.set(Value.cast(port[key]), value)

    async def testbench(context: Any) -> None:
        for _ in range(CYCLES):
            slots = generator.integers(0, config.threads, READERS + 1).tolist()
            rows = generator.integers(0, 2 * config.threads, len(unit.ended)).tolist()
            context.set(unit.second, sum(bit << slot for slot, bit in enumerate(model.second)))
            for port, number in zip((*unit.slots, unit.stacks_slot, *unit.ended_rows), (*slots, *rows), strict=True):
                context.set(port, number)
            before = [dict(model.records[row]) for row in (*map(model.row, slots), *rows)]
            groups, stacks, ended = before[:READERS], before[READERS], before[READERS + 1 :]
            write(context)
            for found, record in zip((*unit.groups, *unit.ended), (*groups, *ended), strict=True):
                assert unpack(found.shape(), context.get(Value.cast(found))).items() <= record.items()
            if stacks.keys() >= dict(model.stacks).keys():
                counts["stacks"] += 1
                assert unpack(model.stacks, context.get(Value.cast(unit.stacks))).items() <= stacks.items()
            await context.tick()

    simulate(unit, testbench)
    assert min(counts.values()) > CYCLES / 10

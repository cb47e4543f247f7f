"""Random ALU clauses: every pixel's registers end as if it had computed alone, in plain integers."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.group_pixel import Pixel
from ctm.tb.r700.machine import Job, run
from ctm.tb.r700.random_groups import draw
from ctm.tb.r700.words import group, slot

PROGRAMS, LONG = 48, 1_700


class Last:
    """An observer: keeps the state of wavefronts at the end of the program."""

    def __init__(self) -> None:
        self.registers: dict[tuple[int, int], np.ndarray] = {}
        self.valid: dict[tuple[int, int], bool] = {}

    def executed(self, pc: int, batches: Any) -> None:
        """Nothing to see."""

    def faulted(self, batch: Any, status: Any, client: Any) -> None:
        """Nothing to see."""

    def ended(self, batch: Any) -> None:
        """Keep what the pixels have."""
        words = batch.temporaries.view(np.uint32)
        for lane in np.flatnonzero(batch.covered):
            position = int(batch.i[lane]), int(batch.j[lane])
            self.registers[position] = words[:, :, lane].copy()
            self.valid[position] = bool(batch.valid_mask[lane])


def check(seed: int) -> int:
    """A program that leaves what the pixels do; how many groups it has."""
    drawn = draw(seed)
    last = Last()
    found = run(drawn.job((4, 16, 64)[seed % 3], observers=(last,)))
    assert found.error is None, f"seed {seed}: {found.error}"
    rounds, start, step = drawn.loop
    for (i, j), registers in last.registers.items():
        pixel = Pixel(drawn.words[:, j, i].tolist(), drawn.rows, dx10=drawn.dx10)
        for number in range(rounds):
            pixel.loop_index = (start + number * step) % 512
            for clause in drawn.clauses:
                pixel.run(clause)
        # A wavefront ends where no pixel is valid any more, so only valid ones run to the end for certain.
        assert pixel.valid == last.valid[i, j], f"seed {seed}, pixel {i}, {j}"
        if pixel.valid:
            expected = np.array([*pixel.registers, *pixel.temporaries], np.uint64).astype(np.uint32)
            np.testing.assert_array_equal(registers, expected, f"seed {seed}, pixel {i}, {j}")
    return sum(len(clause.groups) for clause in drawn.clauses)


def check_many(first: int, count: int) -> int:
    return sum(check(seed) for seed in range(first, first + count))


@pytest.mark.parametrize("first", range(0, PROGRAMS, 8))
def test_pixels_compute_as_if_they_were_alone(first: int) -> None:
    assert check_many(first, 8) > 100


def test_all_operations_are_drawn() -> None:
    clauses = [clause for seed in range(PROGRAMS // 2) for clause in draw(seed).clauses]
    drawn = {each.operation for clause in clauses for slots in clause.groups for each in slots}
    assert drawn == set(OPERATIONS)


@pytest.mark.long
@pytest.mark.parametrize("first", range(10_000, 10_000 + LONG, 100))
def test_many_more(first: int) -> None:
    check_many(first, 100)


def test_a_clause_begins_without_address_predicate_and_previous_results() -> None:
    """The reference takes this from the contract; here it is seen in one program."""
    a = Assembly()
    a.alu(
        group(slot("MOVA_INT", "_.x", "1i"), slot("PRED_SETE", "_.y", "0", "0", updates_predicate=True)),
        group(slot("MOV", "R1.x", "R1+.w"), slot("MOV", "R1.y", "0.5", predicate="ONE")),
    )
    a.alu(group(slot("MOV", "R1.z", "R0+.w"), slot("MOV", "R1.w", "1.0", predicate="ONE")))
    a.output(1)
    found = run(Job(program=a.executable(), domain=(0, 0, 0, 0))).outputs[0, 0, 0].view(np.float32)
    assert found.tolist() == [0.0, 0.5, 1.0, 0.0]

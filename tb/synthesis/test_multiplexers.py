"""Multiplexers of an ECP5 that are wider choose the same, and LUT4s that do more than choose stay."""

from collections import Counter
from itertools import product
from typing import Any

import pytest

from ctm.sim.synthesis.families.lookup_tables import INPUTS, LUT, OUTPUT, make_lut4
from ctm.sim.synthesis.families.multiplexers import with_wide_multiplexers
from ctm.sim.synthesis.families.netlist import make_cell

CHOOSES = "11001010" * 2
"""Pin A where C is 0, pin B where it is 1."""
SELECTS = 2, 3, 4, 5, 6
"""Nets by which words are chosen, of two and more."""
WORDS = range(10, 42)
LEFT = iter(range(100, 1_000_000))


def lut(zero: int, one: int, select: int, output: int, *, init: str = CHOOSES, order: str = "ABC") -> dict[str, Any]:
    return make_lut4(init, dict(zip(order, (zero, one, select), strict=True)), output)


def pfumx(zero: int, one: int, select: int, output: int) -> dict[str, Any]:
    return make_cell("PFUMX", {}, {"ALUT": [one], "BLUT": [zero], "C0": [select]}, {OUTPUT: [output]})


def module(cells: list[dict[str, Any]], outputs: list[int]) -> dict[str, Any]:
    ports = {"given": {"direction": "input", "bits": [*SELECTS, *WORDS]}}
    ports |= {"taken": {"direction": "output", "bits": outputs}}
    return {"ports": ports, "cells": {str(number): cell for number, cell in enumerate(cells)}}


def four(first: int, cells: list[dict[str, Any]]) -> int:
    """A PFUMX of four words from one on; the net that it gives."""
    inner = [next(LEFT), next(LEFT)]
    for half, net in enumerate(inner):
        cells.append(lut(WORDS[first + 2 * half], WORDS[first + 2 * half + 1], SELECTS[0], net))
    cells.append(pfumx(inner[0], inner[1], SELECTS[1], output := next(LEFT)))
    return output


def eight(first: int, cells: list[dict[str, Any]]) -> int:
    """Two of four, and a LUT4 that chooses."""
    cells.append(lut(four(first, cells), four(first + 4, cells), SELECTS[2], output := next(LEFT)))
    return output


def sixteen(first: int, cells: list[dict[str, Any]]) -> int:
    """As Yosys makes one of multiplexers of four."""
    inner = [four(first + 4 * number, cells) for number in range(4)]
    halves = [next(LEFT), next(LEFT)]
    for half, net in enumerate(halves):
        cells.append(lut(inner[2 * half], inner[2 * half + 1], SELECTS[2], net))
    cells.append(pfumx(halves[0], halves[1], SELECTS[3], output := next(LEFT)))
    return output


def values(found: dict[str, Any], given: dict[int, int]) -> tuple[int, ...]:
    """What comes out, by Lattice's words on each cell."""
    nets: dict[Any, int] = {"0": 0, "1": 1, **given}
    drivers = {cell["connections"][OUTPUT][0]: cell for cell in found["cells"].values()}

    def value(net: Any) -> int:
        if net not in nets:
            pins = {pin: bits[0] for pin, bits in drivers[net]["connections"].items() if pin != OUTPUT}
            if drivers[net]["type"] == LUT:
                row = sum(value(pins[pin]) << position for position, pin in enumerate(INPUTS))
                nets[net] = int(drivers[net]["parameters"]["INIT"][~row])
            else:
                zero, one, select = (("BLUT", "ALUT", "C0"), ("D0", "D1", "SD"))[drivers[net]["type"] == "L6MUX21"]
                nets[net] = value(pins[one] if value(pins[select]) else pins[zero])
        return nets[net]

    return tuple(value(net) for net in found["ports"]["taken"]["bits"])


def widened(cells: list[dict[str, Any]], outputs: list[int]) -> Counter[str]:
    """The types of cells, which have to choose the same: each word alone is told apart from the others."""
    before = module(cells, outputs)
    after = with_wide_multiplexers(before)
    for selects in product((0, 1), repeat=len(SELECTS)):
        for alone in WORDS:
            given = dict(zip(SELECTS, selects, strict=True)) | {word: int(word == alone) for word in WORDS}
            assert values(after, given) == values(before, given)
    return Counter(cell["type"] for cell in after["cells"].values())


@pytest.mark.parametrize("order", ["ABC", "BAC", "ACB", "DBA"])
def test_eight_words_take_eight_tables(order: str) -> None:
    cells: list[dict[str, Any]] = []
    inner = [four(0, cells), four(4, cells)]
    # The same function at other pins.
    sites = [INPUTS.index(pin) for pin in order]
    rows = [
        [(row >> sites[0]) & 1, (row >> sites[1]) & 1][(row >> sites[2]) & 1] for row in reversed(range(16))
    ]  # fmt: skip
    cells.append(lut(inner[0], inner[1], SELECTS[2], output := next(LEFT), init="".join(map(str, rows)), order=order))
    assert widened(cells, [output]) == {LUT: 4, "PFUMX": 2, "L6MUX21": 1}


def test_sixteen_words_take_eight_tables() -> None:
    cells: list[dict[str, Any]] = []
    output = sixteen(0, cells)
    assert widened(cells, [output]) == {LUT: 8, "PFUMX": 4, "L6MUX21": 3}


def test_of_thirty_two_the_last_choice_is_a_table() -> None:
    """No multiplexer follows those of sixteen."""
    cells: list[dict[str, Any]] = []
    cells.append(lut(sixteen(0, cells), sixteen(16, cells), SELECTS[4], output := next(LEFT)))
    assert widened(cells, [output]) == {LUT: 17, "PFUMX": 8, "L6MUX21": 6}


@pytest.mark.parametrize("backwards", [False, True])
def test_of_sixty_four_no_more_than_sixteen_are_one(backwards: bool) -> None:
    cells: list[dict[str, Any]] = []
    inner = [sixteen(first, cells) for first in (0, 16, 4, 8)]
    halves = [next(LEFT), next(LEFT)]
    for half, net in enumerate(halves):
        cells.append(lut(inner[2 * half], inner[2 * half + 1], SELECTS[4], net))
    cells.append(pfumx(halves[0], halves[1], SELECTS[0], output := next(LEFT)))
    cells = cells[::-1] if backwards else cells
    kinds = widened(cells, [output])
    assert kinds["PFUMX"] > 0 and kinds["L6MUX21"] > 0
    found = with_wide_multiplexers(module(cells, [output]))["cells"].values()
    drivers = {cell["connections"][OUTPUT][0]: cell for cell in found}
    assert max(_depth(net, drivers) for net in drivers) <= 3


def _depth(net: Any, drivers: dict[Any, dict[str, Any]]) -> int:
    """How many multiplexers follow each other up to a net."""
    cell = drivers.get(net)
    if cell is None or cell["type"] == LUT:
        return 0
    depths = {
        _depth(cell["connections"][pin][0], drivers)
        for pin in ("ALUT", "BLUT", "D0", "D1")
        if pin in cell["connections"]
    }
    assert len(depths) == 1, "both of the same depth"
    assert (cell["type"] == "PFUMX") == (depths == {0})
    return 1 + depths.pop()


def test_cells_with_other_readers_are_kept() -> None:
    for also in ("multiplexer", "between"):
        cells: list[dict[str, Any]] = []
        inner = [four(0, cells), four(4, cells)]
        cells.append(lut(inner[0], inner[1], SELECTS[2], between := next(LEFT)))
        cells.append(lut(four(8, cells), four(12, cells), SELECTS[2], other := next(LEFT)))
        cells.append(pfumx(between, other, SELECTS[3], output := next(LEFT)))
        kinds = widened(cells, [output, inner[0] if also == "multiplexer" else between])
        assert kinds == {LUT: 10, "PFUMX": 5}, "a PFUMX follows two LUT4s, or neither"


@pytest.mark.parametrize("init", ["11001000" * 2, "1100101011111111", "11101010" * 2, "10101010" * 2])
def test_tables_that_do_more_than_choose_stay(init: str) -> None:
    cells: list[dict[str, Any]] = []
    inner = [four(0, cells), four(4, cells)]
    pins = dict(zip(INPUTS, (*inner, SELECTS[2], SELECTS[3]), strict=True))
    cells.append(make_lut4(init, pins, output := next(LEFT)))
    assert widened(cells, [output]) == {LUT: 5, "PFUMX": 2}


def test_a_choice_of_one_multiplexer_and_a_word_is_kept() -> None:
    cells: list[dict[str, Any]] = []
    cells.append(lut(four(0, cells), WORDS[8], SELECTS[2], output := next(LEFT)))
    assert widened(cells, [output]) == {LUT: 3, "PFUMX": 1}


@pytest.mark.parametrize("words", [4, 8, 16])
@pytest.mark.parametrize("table", ["1000", "1110", "0110", "0010", "0101"])
def test_what_combines_a_multiplexer_with_a_bit_takes_no_table(words: int, table: str) -> None:
    cells: list[dict[str, Any]] = []
    inner = {4: four, 8: eight, 16: sixteen}[words](0, cells)
    cells.append(make_lut4(table * 4, {"A": inner, "B": SELECTS[4]}, output := next(LEFT)))
    assert widened(cells, [output])[LUT] == words // 2


def test_what_also_others_read_is_not_combined() -> None:
    cells: list[dict[str, Any]] = []
    inner = four(0, cells)
    cells.append(make_lut4("1000" * 4, {"A": inner, "B": SELECTS[4]}, output := next(LEFT)))
    assert widened(cells, [output, inner]) == {LUT: 3, "PFUMX": 1}


def test_what_combines_with_more_bits_than_there_are_pins_is_kept() -> None:
    cells: list[dict[str, Any]] = []
    pins = {"A": four(0, cells), "B": SELECTS[3], "C": SELECTS[4]}
    cells.append(make_lut4("10000000" * 2, pins, output := next(LEFT)))
    assert widened(cells, [output]) == {LUT: 3, "PFUMX": 1}

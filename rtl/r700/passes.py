"""A wavefront in the lanes: it is larger than they are, so they take it in passes.

What tests and output registers take at once is a part of it: as many pixels as there are `lanes`, also where fewer are
computed in a cycle. A part then has several passes, which are its turns (`ctm.rtl.dpp.turns`).
"""

from dataclasses import replace

from amaranth import Cat, Const, Value

from ctm.rtl.config import ArrayConfig

_LEAST_THREADS = 4


def passes_of(config: ArrayConfig) -> int:
    """Times that what computes goes over a wavefront."""
    return config.cycles_per_group


def pass_bits(config: ArrayConfig) -> int:
    """Width of a pass's number, 1 at least."""
    return max(1, (passes_of(config) - 1).bit_length())


def first_pixel(config: ArrayConfig, number: Value) -> tuple[Value, Value]:
    """Column and row of a pass's first pixel in its wavefront."""
    pixel = Cat(Const(0, config.at_once.bit_length() - 1), number)
    return Cat(pixel[0], pixel[2:]), pixel[1]


def by_part(config: ArrayConfig) -> ArrayConfig:
    """An array whose groups are the parts of this one's wavefronts: it has a row for each part of each slot."""
    rows = config.threads * parts_of(config)
    return replace(config, wavefront=0, threads=max(_LEAST_THREADS, rows // 2))


def parts_of(config: ArrayConfig) -> int:
    """Parts of a wavefront."""
    return config.group // config.lanes


def part_row(config: ArrayConfig, number: Value, slot: Value) -> Value:
    """The row of the part that a pass belongs to."""
    turn_bits, bits = (config.turns - 1).bit_length(), (passes_of(config) - 1).bit_length()
    return Cat(number[turn_bits:bits], slot)

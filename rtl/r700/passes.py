"""A wavefront has more pixels than there are lanes, so the lanes compute it in passes, one in a cycle.

The conditional unit and the outputs take it in segments of `lanes` pixels. Where fewer pixels are computed or exported
in a cycle, a segment has several passes, which are its beats (`ctm.rtl.dpp.beats`).
"""

from dataclasses import replace

from amaranth import Cat, Const, Value

from ctm.rtl.config import ArrayConfig

_LEAST_THREADS = 4
_BLOCK_RAM_ROWS = 512
"""Rows of a block RAM that has a word in each."""


def passes_of(config: ArrayConfig) -> int:
    """Passes of a wavefront, and cycles in which the lanes compute one instruction of it."""
    return config.cycles_per_wavefront


def pass_bits(config: ArrayConfig) -> int:
    """Width of a pass's number, 1 at least."""
    return max(1, (passes_of(config) - 1).bit_length())


def first_pixel(config: ArrayConfig, number: Value) -> tuple[Value, Value]:
    """Column and row of a pass's first pixel in its wavefront."""
    pixel = Cat(Const(0, config.at_once.bit_length() - 1), number)
    return Cat(pixel[0], pixel[2:]), pixel[1]


def exporting(config: ArrayConfig) -> ArrayConfig:
    """The array as exports see it: half a pass in a cycle, if block RAMs of that width hold all outputs.

    Output registers of a whole pass would be twice as many block RAMs, each half full.
    """
    words = config.outputs * config.threads * config.cycles_per_wavefront
    halves = config.at_once > 1 and 2 * words <= _BLOCK_RAM_ROWS
    return replace(config, rate=config.at_once // 2) if halves else config


def by_segment(config: ArrayConfig) -> ArrayConfig:
    """An array whose wavefronts are the segments of this one's: it has a row for each segment of a wave slot."""
    rows = config.threads * segments_of(config)
    return replace(exporting(config), wavefront=0, threads=max(_LEAST_THREADS, rows // 2))


def segments_of(config: ArrayConfig) -> int:
    """Segments of a wavefront."""
    return config.wavefront_lanes // config.lanes


def segment_context(config: ArrayConfig, number: Value, wave: Value) -> Value:
    """The row, in tables of `by_segment`, of the segment that has pass `number` of wave slot `wave`."""
    beat_bits, bits = (config.beats - 1).bit_length(), (passes_of(config) - 1).bit_length()
    return Cat(number[beat_bits:bits], wave)

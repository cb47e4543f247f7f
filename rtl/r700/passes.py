"""A wavefront in the lanes: it is larger than they are, so they take it in passes."""

from dataclasses import replace

from ctm.rtl.config import ArrayConfig

_LEAST_THREADS = 4


def passes_of(config: ArrayConfig) -> int:
    """Times that the lanes go over a wavefront."""
    return config.cycles_per_group


def pass_bits(config: ArrayConfig) -> int:
    """Width of a pass's number, 1 at least."""
    return max(1, (passes_of(config) - 1).bit_length())


def by_pass(config: ArrayConfig) -> ArrayConfig:
    """An array whose groups are the passes of this one's wavefronts: it has a row for each pass of each slot."""
    rows = config.threads * passes_of(config)
    return replace(config, wavefront=0, threads=max(_LEAST_THREADS, rows // 2))

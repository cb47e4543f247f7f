"""The fields of the program information of a loaded R5xx image."""

from collections.abc import Mapping
from functools import lru_cache

from ctm.rtl.isa.r5xx.program import PROGRAM_INFORMATION
from ctm.rtl.isa.word import unpack


@lru_cache(maxsize=64)
def fields_of(information: tuple[int, ...]) -> Mapping[str, Mapping[str, int]]:
    """The fields of the program information's words, by the words' names; read only."""
    return {
        name: unpack(layout, word)
        for (name, layout), word in zip(PROGRAM_INFORMATION.items(), information, strict=True)
    }

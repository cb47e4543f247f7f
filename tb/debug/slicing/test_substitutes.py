"""What `why` tries instead of a word is never that word."""

from typing import Any

import pytest

from ctm.sim.debug.slicing.substitutes import Substitutes
from ctm.sim.golden.dpp.constants import IntConstant

WORDS = (
    False, True, 0, 1, 0x3F800000, 0x80000000, 0xFFFFFFFF, bytes(4), b"\xff" * 4, b"\x3f" * 2, b"\x7f", b"\0\1\2\3",
    IntConstant(count=0, start=0, step=1), IntConstant(count=3, start=2, step=-1),
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS, ids=repr)
def test_no_word_is_its_own_substitute(word: Any) -> None:
    state: Any = None
    found = list(Substitutes(state, literals=[7]).outside(word))
    assert found
    assert word not in found
    assert {type(each) for each in found} == {type(word)}
    assert not isinstance(word, bytes) or {len(each) for each in found} == {len(word)}

"""Arithmetic: what waits at its clients' ports and is not requested has no effect."""

from typing import Any

import pytest

from ctm.rtl.pa.arithmetic import Arithmetic, Operation
from ctm.tb.lib.streams import simulate

TAG, LONGEST = 9, 40
THREE, THIRD = 0x40400000, 0x3EAAAAAB


@pytest.mark.parametrize("idle", Operation)
def test_a_payload_without_a_request_keeps_no_quotient(idle: Operation) -> None:
    unit: Any = Arithmetic()

    async def testbench(context: Any) -> None:
        first, second = unit.requests
        context.set(second.payload, {"operation": idle, "a": 5, "b": 6, "c": 7, "tag": 3})
        words = {"a": THREE, "b": 0, "c": 0, "tag": TAG}
        context.set(first.payload, {"operation": Operation.RECIPROCAL, **words})
        context.set(first.valid, 1)
        await context.tick().until(first.ready)
        context.set(first.valid, 0)
        context.set(first.payload, {"operation": idle, **words})
        found = []
        for _ in range(LONGEST):
            result = context.get(unit.results[0])
            found += [(result.tag, result.word)] if result.valid else []
            assert not context.get(unit.results[1]).valid
            await context.tick()
        assert found == [(TAG, THIRD)]

    simulate(unit, testbench)

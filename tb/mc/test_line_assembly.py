"""LineAssembly: whole lines in the cycle after their last slice."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.lines import LINE_BITS
from ctm.rtl.mc.bus.line_assembly import LineAssembly
from ctm.tb.lib.streams import simulate

COUNT, TAGS = 30, 8


@pytest.mark.parametrize("slice_bits", [64, 128, 512])
@pytest.mark.parametrize("stall", [0, 0.5])
def test_slices_are_assembled_to_lines(slice_bits: int, stall: float) -> None:
    assembly, generator = LineAssembly(range(TAGS), slice_bits), np.random.default_rng(slice_bits)
    lines = [
        (int.from_bytes(generator.bytes(LINE_BITS // 8)), number % TAGS, number % 3 == 0) for number in range(COUNT)
    ]
    count, found = LINE_BITS // slice_bits, []
    came, whole = assembly.lines.response, assembly.client.response

    async def testbench(context: Any) -> None:
        def look(*, ended: bool) -> None:
            assert context.get(whole.valid) == ended
            if ended:
                payload = whole.payload
                found.append((context.get(payload.bits), context.get(payload.tag), bool(context.get(payload.error))))

        ended = False
        for bits, tag, error in lines:
            for index in range(count):
                while generator.random() < stall:
                    context.set(came.valid, 0)
                    look(ended=ended)
                    ended = False
                    await context.tick()
                context.set(came.valid, 1)
                context.set(came.payload.bits, bits >> slice_bits * index & (1 << slice_bits) - 1)
                context.set(came.payload.slice, index)
                context.set(came.payload.error, error and index == count - 1)
                context.set(came.payload.tag, tag)
                look(ended=ended)
                ended = index == count - 1
                await context.tick()
        context.set(came.valid, 0)
        look(ended=ended)

    simulate(assembly, testbench)
    assert found == lines


def test_requests_go_through() -> None:
    assembly = LineAssembly(range(TAGS), 128)

    async def testbench(context: Any) -> None:
        request = assembly.lines.request
        context.set(assembly.client.request.valid, 1)
        context.set(assembly.client.request.payload.line, 77)
        context.set(assembly.client.request.payload.tag, 5)
        context.set(request.ready, 1)
        await context.delay(1e-9)
        seen = request.valid, request.payload.line, request.payload.tag, assembly.client.request.ready
        assert [context.get(each) for each in seen] == [1, 77, 5, 1]

    simulate(assembly, testbench)

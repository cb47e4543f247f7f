"""Cocotb tests of the memory controller alone: all its clients at once, then what they wrote is read."""

import os
from dataclasses import replace
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles, gather

from ctm.rtl.border.clients import fetch_response_layout
from ctm.rtl.border.commands import counters_write_layout
from ctm.rtl.border.lines import (
    CODE_LINES,
    LINE_REQUEST,
    LINE_RESPONSE,
    tagged_line_request_layout,
    tagged_line_response_layout,
)
from ctm.rtl.isa.limits import CHANNELS, INPUTS
from ctm.rtl.isa.word import fields, pack, unpack
from ctm.tb.cosim.bench import LIMIT, Bench
from ctm.tb.cosim.choice import seeds, with_pauses
from ctm.tb.cosim.configuration import SMALL
from ctm.tb.cosim.controller_top import Mistake
from ctm.tb.cosim.streams import Sink, Source
from ctm.tb.cosim.traffic import Traffic, command, random_traffic, set_buffer
from ctm.tb.mc.fetches import LINE, TAG_BITS, Fetches, tag

_LANES = SMALL.array.lanes
_CONSTANTS = (0x0A00_0000, 0x8A00_0800, 0x0A01_0000)
_CODE, _LINES, _COUNTERS = 0x8B00_0100, 0x8C00_0000, 0x0D00_0000
_READS = 24
_SOURCES = (
    "processor__command", "fetches__0__request", "code__request", "constants__request", "output", "uncached__write",
    "processor__lines__request", "processor__counters__write",
)  # fmt: skip
_SINKS = (
    "fetches__0__response", "code__response", "constants__response", "uncached__done", "processor__lines__response",
    "processor__counters__written",
)  # fmt: skip


class _Controller(Bench):
    """The memory controller with its clients."""

    def __init__(self, dut: Any, *, pauses: float, seed: int) -> None:
        super().__init__(dut, SMALL, pauses=pauses, seed=seed)
        self.sources = {name: Source(dut, name, pauses=pauses, seed=seed) for name in _SOURCES}
        self.sinks = {name: Sink(dut, name, pauses=pauses, seed=seed) for name in _SINKS}
        for name in ("conditional_client__access__valid", "conditional_client__ready"):
            getattr(dut, name).value = 0
        dut.processor__lost__taken.value = dut.processor__read_errors__watch.value = 0
        dut.mistake.value = Mistake[os.environ.get("MISTAKE", "NONE")].value

    async def command(self, name: str, *words: int) -> None:
        """Give a command and wait until it has completed."""
        await self.sources["processor__command"].send([command(name, *words)])


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize((("seed", "pauses"), with_pauses(seeds(3))))
async def all_clients_at_once(dut: Any, seed: int, pauses: float) -> None:
    controller = _Controller(dut, pauses=pauses, seed=seed)
    count = 40 if pauses > 0.5 else 160
    traffic = random_traffic(seed, lanes=_LANES, count=count)
    others = _put_others(controller, seed)
    for address, size in traffic.regions:
        controller.memory.contents.write(address, traffic.model.read(address, size))
    traffic.draw_outputs(count)
    traffic.draw_uncached(count // 2)
    await controller.start()
    await _set_up(controller, traffic)
    fetches = traffic.fetches
    expected = fetches.words(traffic.model)
    traffic.finish()
    await gather(
        _look_up(controller, fetches, expected),
        _write_outputs(controller, traffic),
        _write_uncached(controller, traffic),
        _read_others(controller, others),
        _write_counters(controller),
    )
    await controller.command("flush_out_cache", 0)
    assert dut.processor__idle.value == 1 and dut.processor__lost__valid.value == 0
    for address, size in traffic.regions:
        found, wanted = controller.memory.contents.read(address, size), traffic.model.read(address, size)
        wrong = [index for index in range(size) if found[index] != wanted[index]]
        assert not wrong, f"{len(wrong)} bytes from 0x{address + wrong[0]:08x} on are wrong"
    await _read_back(controller, traffic)
    await controller.finish()


def _put_others(controller: _Controller, seed: int) -> dict[int, bytes]:
    """Memory of constants, code and of the command processor's lines."""
    generator = np.random.default_rng([seed, 3])
    others = {address: generator.bytes(16 * 256) for address in (*_CONSTANTS, _CODE, _LINES)}
    for address, data in others.items():
        controller.memory.contents.write(address, data)
    return others


async def _set_up(controller: _Controller, traffic: Traffic) -> None:
    for number, buffer in enumerate(traffic.fetches.buffers):
        await controller.sources["processor__command"].send([set_buffer("set_inp_fmt", number, buffer)])
    for number, buffer in enumerate(traffic.outputs):
        await controller.sources["processor__command"].send([set_buffer("set_out_fmt", number, buffer)])
    for name, base in zip(("set_constf_fmt", "set_consti_fmt", "set_constb_fmt"), _CONSTANTS, strict=True):
        await controller.command(name, base, 0)
    await controller.command("set_out_mask", traffic.output_mask)


async def _look_up(controller: _Controller, fetches: Fetches, expected: np.ndarray) -> None:
    """Every fetch has one response, with the model's words in the lanes that fetch."""
    before = len(controller.sinks["fetches__0__response"].received)
    sending = cocotb.start_soon(controller.sources["fetches__0__request"].send(fetches.payloads()))
    received = (await controller.sinks["fetches__0__response"].take(before + len(fetches)))[before:]
    await sending
    layout = fetch_response_layout(_LANES, TAG_BITS)
    offsets = {name: offset for name, offset, _ in fields(layout)}
    numbers = {tag(number): number for number in range(len(fetches))}
    size = 4 * CHANNELS * _LANES
    for response in received:
        number = numbers.pop(response & (1 << TAG_BITS) - 1)
        assert not response >> offsets["error"] & 1
        bits = response >> offsets["words"] & (1 << 8 * size) - 1
        words = np.frombuffer(bits.to_bytes(size, "little"), "<u4").reshape(_LANES, CHANNELS)
        fetch = fetches.fetch[number]
        assert (words[fetch] == expected[number][fetch]).all(), f"fetch {number} of input {fetches.input[number]}"
    assert not numbers


async def _write_outputs(controller: _Controller, traffic: Traffic) -> None:
    await controller.sources["output"].send(traffic.output_payloads)


async def _write_uncached(controller: _Controller, traffic: Traffic) -> None:
    """Writes that acquire get their responses in order, when their words are in memory."""
    sending = cocotb.start_soon(controller.sources["uncached__write"].send(traffic.uncached_payloads))
    sink = controller.sinks["uncached__done"]
    for number, words in enumerate(traffic.acknowledged_words):
        await sink.take(number + 1)
        for address, value in words.items():
            found = int.from_bytes(controller.memory.contents.read(address, 4), "little")
            assert found == value, f"response {number} came before 0x{address:08x} was written"
    await sending
    assert sink.received == traffic.acquired


async def _read_others(controller: _Controller, others: dict[int, bytes]) -> None:
    """Constants and lines come in order, code with its tags."""
    banks = [(number % 3, number * 7 % 64 if number % 3 == 0 else number % 2) for number in range(_READS)]
    lines = [(number * 5) % 64 for number in range(_READS)]
    await gather(
        _read_code(controller, lines, others[_CODE]),
        controller.sources["constants__request"].send([bank | line << 2 for bank, line in banks]),
        controller.sources["processor__lines__request"].send(
            [pack(LINE_REQUEST, line=_LINES // LINE + line) for line in lines]
        ),
    )
    found = await controller.sinks["constants__response"].take(4 * _READS)
    rows = [others[_CONSTANTS[bank]][LINE * line :][:LINE] for bank, line in banks]
    beats = [row[16 * beat : 16 * beat + 16] for row in rows for beat in range(4)]
    assert found == [int.from_bytes(beat, "little") for beat in beats], "a constant is wrong"
    found = await controller.sinks["processor__lines__response"].take(_READS)
    responses = [unpack(LINE_RESPONSE, bits) for bits in found]
    assert [each["bits"] for each in responses] == [_line(others[_LINES], line) for line in lines], "a line is wrong"
    assert not any(each["error"] for each in responses)


async def _read_code(controller: _Controller, lines: list[int], code: bytes) -> None:
    """As many lines as there are tags at a time."""
    request, response = (make(range(CODE_LINES)) for make in (tagged_line_request_layout, tagged_line_response_layout))
    for first in range(0, len(lines), CODE_LINES):
        asked = lines[first : first + CODE_LINES]
        await controller.sources["code__request"].send(
            [pack(request, line=_CODE // LINE + line, tag=tag) for tag, line in enumerate(asked)]
        )
        found = await controller.sinks["code__response"].take(first + len(asked))
        responses = sorted((unpack(response, bits) for bits in found[first:]), key=lambda each: each["tag"])
        assert [each["tag"] for each in responses] == list(range(len(asked)))
        assert [each["bits"] for each in responses] == [_line(code, line) for line in asked], "a line is wrong"
        assert not any(each["error"] for each in responses)


def _line(memory: bytes, line: int) -> int:
    return int.from_bytes(memory[LINE * line :][:LINE], "little")


async def _write_counters(controller: _Controller) -> None:
    """Eight bytes each, and no other."""
    payloads = [
        pack(counters_write_layout(), address=_COUNTERS + 2048 * index, clocks=100 + index, active=7 * index)
        for index in range(4)
    ]
    await controller.sources["processor__counters__write"].send(payloads)
    assert await controller.sinks["processor__counters__written"].take(4) == [0] * 4
    for index in range(4):
        expected = (100 + index).to_bytes(4, "little") + (7 * index).to_bytes(4, "little") + bytes(2040)
        found = controller.memory.contents.read(_COUNTERS + 2048 * index, 2048)
        assert found == expected, "counters are wrong in memory"


async def _read_back(controller: _Controller, traffic: Traffic) -> None:
    """Outputs as inputs: old lines may be in the caches until they are invalidated."""
    buffers = [traffic.outputs[number % len(traffic.outputs)] for number in range(INPUTS)]
    fetches = replace(traffic.fetches, buffers=buffers, uncached=np.zeros(len(traffic.fetches), bool))
    limits = np.array([(buffer.width_limit, buffer.height_limit) for buffer in buffers])[fetches.input]
    fetches = replace(fetches, x=fetches.x % limits[:, :1], y=fetches.y % limits[:, 1:])
    for number, buffer in enumerate(buffers):
        await controller.sources["processor__command"].send([set_buffer("set_inp_fmt", number, buffer)])
    await controller.command("inv_inp_cache", 0)
    await _look_up(controller, fetches, fetches.words(traffic.model))
    await ClockCycles(controller.dut.clk, 10)

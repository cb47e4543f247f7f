"""What is around the command processor alone: host, memory, array, memory controller and conditional unit.

One coroutine looks at all ports at each clock edge, writes down what went over them, and drives them for the next
cycle. Events are those of the reference in tb/pe.
"""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from cocotb.triggers import RisingEdge

from ctm.rtl.border.commands import BUS_FAULT, COMMAND_BUFFER, ERROR, PARAMETERS, UNIT_COMMAND, counters_write_layout
from ctm.rtl.border.conditional import wavefront_test_layout
from ctm.rtl.border.lines import LINE_REQUEST, LINE_RESPONSE
from ctm.rtl.border.programs import image_layout, program_fault_layout, wavefront_layout
from ctm.rtl.isa.commands import COMMANDS
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.executable import PROGRAM_INFORMATION_WORDS
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT, PROGRAM_INFORMATION
from ctm.rtl.isa.status import Status
from ctm.rtl.isa.word import fields, pack, unpack
from ctm.sim.golden.pe.state import State
from ctm.tb.cosim.ends import Giver, Pace, Taker
from ctm.tb.pe.reference import HashedTests
from ctm.tb.pe.simulation import Event, Timing, Work

_LINE = 64
_LINES_OF_SPACE, _LINES_OF_IMAGE = 1 << 26, 1024
_MOST_LINES, _RESIDENT = 8, 8
_IDLE_CYCLES = 30
"""Cycles after the last buffer, in which nothing more may come."""
_UNITS = {command.opcode: command for command in COMMANDS if command.unit != "PE"}
_GIVERS = ("host__buffer", "memory__lines__response", "memory__counters__written", "tester__response", "array__fault")
_TAKERS = ("memory__lines__request", "tester__request", "wavefront", "host__error")
_UNIT_TAKERS = ("memory__command", "co_command", "memory__counters__write")
_UNCACHED = 1 << WORD_BITS * list(PROGRAM_INFORMATION).index("UMRT")


@dataclass
class _Resident:
    number: int
    left: int
    given: int


def _words(bits: int, count: int) -> tuple[int, ...]:
    return tuple(bits >> WORD_BITS * position & (1 << WORD_BITS) - 1 for position in range(count))


class Surroundings:
    """Lets a command processor execute the buffers of some work. Make it in front of the reset."""

    def __init__(self, dut: Any, work: Work, timing: Timing, *, lanes: int) -> None:
        self._dut, self._work, self._timing, self._lanes = dut, work, timing, lanes
        self._chance = random.Random(timing.seed)
        ends: Pace = {"pauses": timing.stall, "seed": timing.seed}
        # Ready with such a probability that a unit takes `delay` cycles in the mean.
        slow: Pace = {"pauses": 1 - (1 - timing.stall) / (1 + timing.delay), "seed": timing.seed}
        immediate: Pace = {"pauses": 0.0, "seed": timing.seed}
        self._givers = {name: Giver(dut, name, **immediate if name == "array__fault" else ends) for name in _GIVERS}
        self._takers = {name: Taker(dut, name, **immediate if name == "host__error" else ends) for name in _TAKERS}
        self._units = {name: Taker(dut, name, **slow) for name in _UNIT_TAKERS}
        tests = HashedTests()
        tests.salt = work.salt
        self._state = State(conditional=tests)
        self.events: list[Event] = []
        self.now = self._given_buffers = self._walked = self._programs = self._wavefronts = self._flushes = 0
        self._executing = self._failed = self._running = self._has_error = False
        self._idle_shown, self._was_idle, self._mc_idle, self._mc_busy = True, True, True, 0
        self._wait, self._span = 0, (0, 0)
        self._residents: list[_Resident] = []
        self._writing: list[int] = []
        self._lost = False
        self._information = self._value = 0
        for name in ("lost__valid", "lost__fault", "read_errors__address"):
            getattr(dut, f"memory__{name}").value = 0
        dut.array__idle.value = dut.memory__idle.value = 1
        self._show_settings()

    async def run(self) -> list[Event]:
        """All events up to some cycles after the last buffer. The clock runs, the reset is over.

        Raises
        ------
        AssertionError
            The processor broke a rule of its border.
        """
        edge, is_idle = RisingEdge(self._dut.clk), 0
        while is_idle < _IDLE_CYCLES:
            self._drive()
            await edge
            over = self._given_buffers == len(self._work.buffers) and not self._executing
            assert not over or self._dut.host__idle.value == 1, "it is not idle after the last buffer"
            is_idle = is_idle + 1 if over else 0
            self._look()
            self.now += 1
        return self.events

    def _log(self, kind: str, *values: int) -> None:
        self.events.append((kind, values))

    def _below(self, limit: int) -> int:
        return self._chance.randrange(limit)

    def _later(self) -> int:
        return self.now + 1 + self._below(self._timing.delay + 1)

    # What the next cycle gets.

    def _drive(self) -> None:
        self._drive_buffer()
        self._drive_array()
        for giver in self._givers.values():
            giver.drive(self.now)
        for name in ("memory__lines__request", "tester__request"):
            self._takers[name].drive()
        self._takers["wavefront"].drive(can=len(self._residents) < _RESIDENT)
        for name, unit in self._units.items():
            unit.drive(can=self._mc_idle if name == "memory__command" else True)

    def _drive_buffer(self) -> None:
        self._wait = max(0, self._wait - 1)
        host, position = self._givers["host__buffer"], self._given_buffers
        if not self._wait and not host and position < len(self._work.buffers):
            address, dwords = self._work.buffers[position]
            host.give(pack(COMMAND_BUFFER, address=address, dwords=dwords))

    def _drive_array(self) -> None:
        """Wavefronts stay for a time; the array looks idle one cycle too long; outputs take their time to memory."""
        for each in self._residents:
            each.left -= each.left != 0
        ended = next((each for each in self._residents if not each.left), None)
        if ended is not None:
            self._residents.remove(ended)
            self._end_wavefront(ended.number)
        empty = not self._residents
        if empty and not self._was_idle:
            self._writing.append(self._programs - 1)
            self._mc_busy = self._below(self._timing.hold + 1)
        elif empty and self._mc_busy:
            self._mc_busy -= 1
        self._mc_idle = empty and not self._mc_busy
        while self._mc_idle and self._writing:
            self._lose(False, self._writing.pop(0))
        self._was_idle = empty
        self._idle_shown = all(each.given + 1 == self.now for each in self._residents)
        self._dut.array__idle.value, self._dut.memory__idle.value = self._idle_shown, self._mc_idle

    def _end_wavefront(self, number: int) -> None:
        for position, fault in enumerate(self._work.faults):
            if (fault.program + 1, fault.wavefront) == (self._programs, number):
                values = {name: getattr(fault, name) for name in ("status", "client", "pc", "i", "j")}
                self._givers["array__fault"].give(pack(program_fault_layout(PROGRAM_FORMAT), **values))
                if fault.status == Status.BUS_ERROR.value and not self._has_error:
                    self._has_error, self._dut.memory__read_errors__address.value = True, fault.address
                self._log("fault", self._programs - 1, position)
                return

    def _lose(self, at_flush: bool, number: int) -> None:
        for loss in self._work.losses:
            if (loss.at_flush, loss.number) == (at_flush, number) and not self._lost:
                self._lost = True
                self._dut.memory__lost__fault.value = pack(BUS_FAULT, client=loss.client, address=loss.address)
                self._dut.memory__lost__valid.value = 1

    def _show_settings(self) -> None:
        """What other units make of the state, as commands and the image have it."""
        conditional = self._state.conditional
        self._dut.conditional_legal.value = conditional.format_is_legal
        self._dut.tests.value = conditional.location is ConditionalLocation.PE
        uncached = self._information & _UNCACHED and self._state.outputs[0].format is not DataFormat.FLOAT32_1
        self._dut.launch__status.value = (Status.BAD_UMRT_FORMAT if uncached else Status.OK).value

    # What the last cycle did.

    def _look(self) -> None:
        self._look_at_buffers()
        self._look_at_lines()
        self._look_at_units()
        self._look_at_programs()

    def _look_at_buffers(self) -> None:
        lines, taken = self._givers["memory__lines__response"], self._givers["host__buffer"].look()
        if self._dut.host__idle.value == 1:
            assert not self._executing and not lines, "it is idle while it works"
        error = self._takers["host__error"].look()
        if error is not None:
            assert self._executing and not self._failed, "an error without a buffer, or a second one"
            self._failed = True
            self._finish_program()
            self._log("error", *(error >> offset & (1 << width) - 1 for _, offset, width in fields(ERROR)))
        if self._dut.host__consumed.value == 1:
            assert self._executing, "something is consumed without a buffer"
            self._finish_program()
            self._log("consumed")
            # The host clears an error after a time; a next buffer may wait already.
            self._wait = 1 + self._below(self._timing.delay + 1) if self._failed else self._wait
            self._executing = self._failed = False
        elif taken is not None:
            assert not self._executing, "a buffer is taken while another is executed"
            self._log("buffer")
            self._executing = True
            address, dwords = self._work.buffers[self._given_buffers]
            self._span = address // _LINE, (address % _LINE + 4 * dwords + _LINE - 1) // _LINE
            self._given_buffers += 1

    def _look_at_lines(self) -> None:
        self._givers["memory__lines__response"].look()
        request = self._takers["memory__lines__request"].look()
        if request is None:
            return
        line = unpack(LINE_REQUEST, request)["line"]
        first, count = self._span
        base = self._state.instruction_base // _LINE
        needed = (line - first) % _LINES_OF_SPACE < count or (line - base) % _LINES_OF_SPACE < _LINES_OF_IMAGE
        assert self._executing and needed, f"line 0x{line:x} is requested, which is not needed"
        error = any(low <= line < end for low, end in self._work.error_lines)
        bits = b"\xa5" * _LINE if error else self._work.memory.read(_LINE * line, _LINE)
        due = self.now + 1 + self._timing.latency + self._below(self._timing.jitter + 1)
        responses = self._givers["memory__lines__response"]
        responses.give(pack(LINE_RESPONSE, bits=int.from_bytes(bits, "little"), error=int(error)), due)
        assert len(responses) <= _MOST_LINES, "too many lines are in flight"

    def _look_at_units(self) -> None:
        for name in ("memory__command", "co_command"):
            payload = self._units[name].look()
            if payload is not None:
                self._take_command(unpack(UNIT_COMMAND, payload))
        payload = self._units["memory__counters__write"].look()
        if payload is not None:
            self._finish_program()
            write = unpack(counters_write_layout(), payload)
            self._log("counters", *write.values())
            error = any(low <= write["address"] // _LINE < end for low, end in self._work.error_lines)
            self._givers["memory__counters__written"].give(int(error), self._later())
        self._givers["memory__counters__written"].look()
        if self._dut.memory__lost__taken.value == 1:
            assert self._lost, "a loss is taken that is none"
            self._lost = False
            self._dut.memory__lost__valid.value = 0

    def _take_command(self, payload: dict[str, int]) -> None:
        assert not self._residents, "a unit has a command while wavefronts run"
        self._finish_program()
        words, command = _words(payload["words"], PARAMETERS), _UNITS[payload["opcode"]]
        self._log("unit", payload["opcode"], *words)
        self._state.apply(command, words[: len(command.parameters)])
        if command.name in ("flush_out_cache", "flush_cond_out_cache"):
            self._lose(True, self._flushes)
            self._flushes += 1
        self._show_settings()

    def _look_at_programs(self) -> None:
        if self._dut.image_loaded.value == 1:
            image = unpack(image_layout(PROGRAM_FORMAT), int(self._dut.launch__image.value))
            self._information = image["information"]
            words = _words(self._information, PROGRAM_INFORMATION_WORDS)
            self._log("image", image["code"], image["size"], *words)
            self._show_settings()
        if self._dut.memory__read_errors__watch.value == 1:
            assert not self._residents and not self._givers["tester__response"], "a program starts while another runs"
            self._finish_program()
            self._value = int(self._dut.launch__conditional_value.value)
            self._log("starts", self._value)
            self._programs, self._wavefronts, self._running, self._has_error = self._programs + 1, 0, True, False
        self._givers["array__fault"].look()
        self._walked += int(self._dut.walked.value)
        self._look_at_tests()
        wavefront = self._takers["wavefront"].look()
        if wavefront is not None:
            assert self._running, "a wavefront without a program"
            given = unpack(wavefront_layout(self._lanes), wavefront)
            self._log("wavefront", given["i"], given["j"], given["covered"])
            self._residents.append(_Resident(self._wavefronts, 2 + self._below(self._timing.hold + 1), self.now))
            self._wavefronts += 1

    def _look_at_tests(self) -> None:
        self._givers["tester__response"].look()
        payload = self._takers["tester__request"].look()
        if payload is None:
            return
        request, lane = unpack(wavefront_test_layout(self._lanes), payload), np.arange(self._lanes)
        values = _words(request["values"], self._lanes)
        assert set(values) == {self._value}, "a lane's conditional value is not the program's"
        x, y = request["i"] + 2 * (lane // 4) + lane % 2, request["j"] + lane % 4 // 2
        passed, _ = self._state.conditional.decide(
            self._work.memory, x, y, np.array(values, np.uint32).view(np.float32)
        )  # fmt: skip
        mask = sum(int(each) << position for position, each in enumerate(passed)) & request["mask"]
        self._givers["tester__response"].give(mask, self._later())

    def _finish_program(self) -> None:
        """The program before this event is over: all of its domain must have been walked."""
        if self._running:
            assert not self._residents and self._idle_shown, "something goes on while wavefronts run"
            self._log("walked", self._walked)
            self._running, self._walked = False, 0

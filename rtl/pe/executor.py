"""Executes commands in order."""

from amaranth import Module, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import UNIT_COMMAND, BufferClient, ExecutionClient
from ctm.rtl.isa.commands import BASE_MASK
from ctm.rtl.isa.draws import ALL_BY_NAME
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.pe.command import COMMAND
from ctm.rtl.pe.counters import CounterControl
from ctm.rtl.pe.fetcher import BufferControl
from ctm.rtl.pe.launcher import LauncherControl
from ctm.rtl.pe.program_run import RunControl
from ctm.rtl.pe.settings import SettingsControl

_SETTINGS_BESIDE_A_PROGRAM = {"domain": "set_domain", "value": "set_cond_val"}
_COUNTERS_BESIDE_A_PROGRAM = {
    "initialise": "init_perf_counters", "start": "start_perf_counters", "stop": "stop_perf_counters",
}  # fmt: skip
"""Commands that are executed beside a program, by the outputs that execute them."""
DRAW_COMMANDS = data.StructLayout({"set": 1, "start": 1, "is_draw": 1})
"""Of a machine that draws: take a command's state; take start_draw's parameters and draw; what is launched, or runs, is
a draw."""


class CommandExecutor(wiring.Component):
    """Executes the commands of one buffer after the other; the effect is as if each completed before the next began.

    Only set_domain, set_cond_val and the commands that init, start and stop counters are executed beside a program. All
    others first wait for its end. After a fault they are not executed, and the settings made beside the program are
    restored; only the counters' values stay.

    A command beside a program takes a cycle. start_program offers its first wavefront five cycles after `ended`, four
    if no program ran.

    Members
    -------
    host, co_command
        As the command processor's.
    memory : ``Out(ExecutionClient(single=streams))``
    read_error_address : ``In(32)``
        As its memory's.
    buffers : ``Out(BufferControl())``
    reading : ``In(1)``
        Lines of the buffer are in flight.
    command : ``In(stream.Signature(COMMAND))``
    settings : ``Out(SettingsControl())``
    performance : ``Out(CounterControl())``
    launcher : ``Out(LauncherControl())``
    run : ``Out(RunControl(program_format))``
    draw : ``Out(DRAW_COMMANDS)``
        Where the machine draws.
    stream_filled : ``In(32)``
        Where there are streams: filled dwords of the stream that read_strm names.
    """

    def __init__(self, program_format: ProgramFormat, *, draws: bool = False, streams: bool = False) -> None:
        self._draws, self._streams = draws, streams
        super().__init__(
            {
                "host": In(BufferClient()),
                "co_command": Out(stream.Signature(UNIT_COMMAND)),
                "memory": Out(ExecutionClient(single=streams)),
                "read_error_address": In(ADDRESS_BITS),
                "buffers": Out(BufferControl()),
                "reading": In(1),
                "command": In(stream.Signature(COMMAND)),
                "settings": Out(SettingsControl()),
                "performance": Out(CounterControl()),
                "launcher": Out(LauncherControl()),
                "run": Out(RunControl(program_format)),
                **({"draw": Out(DRAW_COMMANDS)} if draws else {}),
                **({"stream_filled": In(WORD_BITS)} if streams else {}),
            }
        )
        self._started_at, self._started_word = Signal(ADDRESS_BITS), Signal(WORD_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        host, begin, runs = self.host, self.buffers.begin, Signal()
        m.d.comb += self.settings.words.eq(self.command.payload.words)
        m.d.comb += self.performance.enable.eq(self.command.payload.words[0][0])
        m.d.comb += [begin.buffer.eq(host.buffer.payload), begin.valid.eq(host.buffer.valid & host.idle)]
        with m.FSM():
            with m.State("idle"):
                m.d.comb += [host.idle.eq(1), host.buffer.ready.eq(1)]
                with m.If(host.buffer.valid):
                    m.next = "next"
            with m.State("next"), m.If(self.command.valid):
                self._begin(m, runs)
            with m.State("program ended"):
                self._judge(m, runs)
            self._forward(m)
            self._report_lost(m)
            self._write_counters(m)
            self._launch(m, runs)
            with m.State("report"):
                m.d.comb += host.error.valid.eq(1)
                m.next = "over"
            with m.State("over"):
                m.d.comb += self.buffers.drop.eq(1)
                m.next = "drain"
            with m.State("drain"), m.If(~self.reading):
                m.d.comb += host.consumed.eq(1)
                m.next = "idle"
        return m

    def _is(self, name: str) -> Value:
        """Whether it is this command."""
        return Value.cast(self.command.payload.opcode) == ALL_BY_NAME[name].opcode

    def _done(self, m: Module) -> None:
        m.d.comb += self.command.ready.eq(1)
        m.next = "next"

    def _fail(self, m: Module, status: Value | Status, **fields: ValueLike) -> None:
        """Stop the buffer with an error; other fields are 0."""
        m.d.sync += [Value.cast(self.host.error.payload).eq(0), self.host.error.payload.status.eq(status)]
        m.d.sync += [self.host.error.payload[name].eq(value) for name, value in fields.items()]
        m.next = "report"

    def _begin(self, m: Module, runs: Value) -> None:
        """Execute the command, or go to the state that does."""
        command = self.command.payload
        is_good = command.status == Status.OK
        with m.If(command.kind.beside):
            for name, command_name in _SETTINGS_BESIDE_A_PROGRAM.items():
                m.d.comb += self.settings.commands[name].eq(self._is(command_name))
            for name, command_name in _COUNTERS_BESIDE_A_PROGRAM.items():
                m.d.comb += getattr(self.performance, name).eq(self._is(command_name))
            self._done(m)
        with m.Elif(runs):
            with m.If(self.run.ended):
                m.next = "program ended"
        with m.Elif(command.end):
            m.next = "over"
        with m.Elif(~is_good):
            self._fail(m, command.status, address=command.address, word=command.word)
        with m.Elif(command.kind.mc):
            m.next = "forward to MC"
        with m.Elif(command.kind.co):
            m.next = "forward to CO"
        with m.Elif(self._is("wait_for_idle")):
            with m.If(self.run.ended & self.memory.idle):
                m.next = "report lost"
        with m.Elif(self._is("read_perf_counters")):
            m.next = "write counters"
            m.d.sync += [
                self.memory.counters.write.payload.address.eq(command.words[0] & BASE_MASK),
                self.memory.counters.write.payload.clocks.eq(self.performance.clocks),
                self.memory.counters.write.payload.active.eq(self.performance.active),
            ]
            if self._streams:
                m.d.sync += self.memory.counters.write.payload.single.eq(0)
            with m.If(~self.performance.enabled):
                self._done(m)
        if self._streams:
            with m.Elif(self._is("read_strm")):
                m.next = "write counters"
                m.d.sync += [
                    self.memory.counters.write.payload.address.eq(command.words[1] & ~3),
                    self.memory.counters.write.payload.clocks.eq(self.stream_filled),
                    self.memory.counters.write.payload.single.eq(1),
                ]
        if self._draws:
            with m.Elif(command.kind.draw):
                m.d.comb += self.draw.set.eq(1)
                self._done(m)
            with m.Elif(self._is("start_draw")):
                m.d.comb += self.launcher.launch.eq(1)
                m.d.sync += self.draw.is_draw.eq(1)
                m.next = "launch"
        with m.Elif(self.settings.is_empty):
            self._done(m)
        with m.Else():
            m.d.comb += self.launcher.launch.eq(1)
            if self._draws:
                m.d.sync += self.draw.is_draw.eq(0)
            m.next = "launch"

    def _judge(self, m: Module, runs: Signal) -> None:
        """Report the fault of the program that has ended, if any."""
        failure = self.run.failure
        m.d.sync += runs.eq(0)
        m.next = "next"
        with m.If(self.run.failed):
            m.d.comb += [self.settings.commands.restore.eq(1), self.performance.restore.eq(1)]
            position = {name: failure[name] for name in ("pc", "i", "j")}
            with m.If(failure.status == Status.BUS_ERROR):
                self._fail(m, failure.status, client=failure.client, address=self.read_error_address, **position)
            with m.Else():
                self._fail(m, failure.status, address=self._started_at, word=self._started_word, **position)

    def _forward(self, m: Module) -> None:
        """Commands of other units."""
        command = self.command.payload
        for unit in (self.memory.command, self.co_command):
            m.d.comb += [unit.payload.opcode.eq(command.opcode), unit.payload.words.eq(command.words)]
        with m.State("forward to MC"):
            m.d.comb += self.memory.command.valid.eq(1)
            with m.If(self.memory.command.ready):
                m.d.comb += [
                    self.launcher.invalidate.eq(command.kind.invalidates),
                    self.settings.commands.base.eq(self._is("set_inst_fmt")),
                ]
                with m.If(command.kind.reports):
                    m.next = "report lost"
                with m.Else():
                    self._done(m)
        with m.State("forward to CO"):
            m.d.comb += self.co_command.valid.eq(1)
            with m.If(self.co_command.ready):
                self._done(m)

    def _report_lost(self, m: Module) -> None:
        with m.State("report lost"):
            with m.If(self.memory.lost.valid):
                m.d.comb += self.memory.lost.taken.eq(1)
                fault = self.memory.lost.fault
                self._fail(m, Status.BUS_ERROR, client=fault.client, address=fault.address)
            with m.Else():
                self._done(m)

    def _write_counters(self, m: Module) -> None:
        address = self.memory.counters.write.payload.address
        with m.State("write counters"):
            m.d.comb += self.memory.counters.write.valid.eq(1)
            with m.If(self.memory.counters.write.ready):
                m.next = "counters written"
        with m.State("counters written"):
            m.d.comb += self.memory.counters.written.ready.eq(1)
            with m.If(self.memory.counters.written.valid):
                with m.If(self.memory.counters.written.payload.error):
                    self._fail(m, Status.BUS_ERROR, client=BusClient.COUNTERS, address=address)
                with m.Else():
                    self._done(m)

    def _launch(self, m: Module, runs: Signal) -> None:
        command, status = self.command.payload, self.launcher.status
        with m.State("launch"), m.If(self.launcher.done):
            with m.If(status == Status.OK):
                m.d.comb += [self.run.start.eq(1), self.settings.commands.keep.eq(1), self.performance.keep.eq(1)]
                if self._draws:
                    m.d.comb += [self.run.start.eq(~self.draw.is_draw), self.draw.start.eq(self.draw.is_draw)]
                m.d.sync += [runs.eq(1), self._started_at.eq(command.address), self._started_word.eq(command.word)]
                self._done(m)
            with m.Elif(status == Status.BUS_ERROR):
                self._fail(m, status, client=BusClient.INSTRUCTION, address=self.launcher.address)
            with m.Else():
                self._fail(m, status, address=command.address, word=command.word)

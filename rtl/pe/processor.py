"""The command processor: executes command buffers, and dispatches wavefronts to an array."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import BUS_FAULT, COMMAND_BUFFER, ERROR, UNIT_COMMAND, CounterClient
from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.drawing import DrawClient
from ctm.rtl.border.lines import LINE_BITS, LineClient
from ctm.rtl.border.programs import DOMAIN, CoreCredit, image_layout, program_fault_layout, wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.draw_config import DrawConfig
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.sharing import SharedClient
from ctm.rtl.pe.counters import PerformanceCounters
from ctm.rtl.pe.draw_settings import DrawSettings
from ctm.rtl.pe.executor import CommandExecutor
from ctm.rtl.pe.fetcher import CommandFetcher
from ctm.rtl.pe.launcher import ProgramLauncher
from ctm.rtl.pe.program_run import ProgramRun
from ctm.rtl.pe.reader import CommandReader
from ctm.rtl.pe.settings import Settings


class CommandProcessor(wiring.Component):
    """Executes command buffers one after the other; the effect is as if each command completed before the next began.

    Words of a buffer are prefetched and taken one in each cycle. At most eight lines are in flight. Responses to
    requests from before a reset must not come after it. Source: CTM Guide pp. 3-22 and 45-49.

    Members
    -------
    buffer : ``In(stream.Signature(COMMAND_BUFFER))``
        Next command buffer; none may be offered while an error has not been cleared.
    consumed : ``Out(1)``
        Pulse: the buffer that was taken is finished; after the pulse of its error, if it had one.
    error : ``Out(stream.Signature(ERROR, always_ready=True))``
        At most one for each buffer; the remaining commands are dropped.
    idle : ``Out(1)``
        No buffer is being executed and none of its lines is in flight.
    lines : ``Out(LineClient(slice_bits))``
        Whole lines where the machine draws.
    counters : ``Out(CounterClient(single=...))``
    mc_command, co_command : ``Out(stream.Signature(UNIT_COMMAND))``
        Taken when completed, flushes included.
    mc_idle : ``In(1)``
        No write is in flight to the output caches; low at the latest when `array_idle` rises.
    lost : ``In(1)``
        A write or conditional read has an error that has not been reported.
    lost_fault : ``In(BUS_FAULT)``
    lost_taken : ``Out(1)``
        It is reported.
    read_error_address : ``In(32)``
        Of the array's first read with an error since `program_starts`.
    program_starts : ``Out(1)``
        Pulse at the start of each program.
    image : ``Out(image_layout(program_format))``
    image_loaded : ``Out(1)``
        Pulse: the image is new.
    launch_status : ``In(Status)``
        OK, or the error that prevents the array from running the image in the present state. Combinational.
    conditional_value : ``Out(32)``
    program_domain : ``Out(DOMAIN)``
        Of the program that runs, from `program_starts` to its end.
    conditional_legal : ``In(1)``
        The conditional unit can test with its buffer's format.
    tests : ``In(1)``
        The conditional unit tests each lane before its wavefront is dispatched; constant while a program runs.
    tester : ``Out(ConditionalClient(lanes))``
    wavefront : ``Out(stream.Signature(wavefront_layout(lanes, cores)))``
        With several cores, each wavefront has a credit of its core.
    credits : ``In(CoreCredit())`` for each core
    array_idle : ``In(1)``
        May still be high in the cycle after a wavefront was taken.
    fault : ``In(stream.Signature(program_fault_layout(program_format), always_ready=True))``
        At the latest with `array_idle`; the program's first one counts.
    walked : ``Out(range(lanes + 1))``
        Lanes of the domain that were dispatched or failed their test in this cycle.
    draw : ``Out(DrawClient(program_format))``
        Where the machine draws.
    draw_lines : ``In(LineClient())``
        Likewise: reads of a draw's indices.
    stream, stream_filled : ``Out(range(STREAMS))``, ``In(32)``
        With geometry programs: a stream, and its dwords that are filled.
    """

    def __init__(
        self,
        config: ArrayConfig,
        program_format: ProgramFormat,
        pipeline: DrawConfig | None = None,
        *,
        slice_bits: int = LINE_BITS,
    ) -> None:
        self._slice_bits = slice_bits
        self._format, self._config, self._pipeline = program_format, config, pipeline or DrawConfig()
        self._draws = draws = self._pipeline.draws
        self._launcher = ProgramLauncher(program_format, draws=draws, slice_bits=slice_bits)
        drawing = {"draw": Out(DrawClient(program_format)), "draw_lines": In(LineClient())} if draws else {}
        if self._pipeline.has_geometry:
            drawing |= {"stream": Out(range(STREAMS)), "stream_filled": In(WORD_BITS)}
        lanes, cores = config.wavefront_lanes, config.cores
        super().__init__(
            {
                "buffer": In(stream.Signature(COMMAND_BUFFER)),
                "consumed": Out(1),
                "error": Out(stream.Signature(ERROR, always_ready=True)),
                "idle": Out(1),
                "lines": Out(LineClient(slice_bits)),
                "counters": Out(CounterClient(single=self._pipeline.has_geometry)),
                "mc_command": Out(stream.Signature(UNIT_COMMAND)),
                "co_command": Out(stream.Signature(UNIT_COMMAND)),
                "mc_idle": In(1),
                "lost": In(1),
                "lost_fault": In(BUS_FAULT),
                "lost_taken": Out(1),
                "read_error_address": In(ADDRESS_BITS),
                "program_starts": Out(1),
                "image": Out(image_layout(program_format, draws=draws)),
                "image_loaded": Out(1),
                "launch_status": In(Status),
                "conditional_value": Out(WORD_BITS),
                "program_domain": Out(DOMAIN),
                "conditional_legal": In(1),
                "tests": In(1),
                "tester": Out(ConditionalClient(lanes)),
                "wavefront": Out(stream.Signature(wavefront_layout(lanes, cores))),
                "credits": In(CoreCredit()).array(cores),
                "array_idle": In(1),
                "fault": In(stream.Signature(program_fault_layout(program_format), always_ready=True)),
                "walked": Out(range(lanes + 1)),
                **drawing,
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.executor = executor = CommandExecutor(
            self._format, draws=self._draws, streams=self._pipeline.has_geometry
        )
        m.submodules.fetcher = fetcher = CommandFetcher(self._slice_bits)
        m.submodules.reader = reader = CommandReader(pipeline=self._pipeline, outputs=self._config.outputs)
        m.submodules.launcher = launcher = self._launcher
        config = self._config
        m.submodules.run = run = ProgramRun(config.wavefront_lanes, self._format, config.tiles, config.cores)
        for name in ("buffer", "error", "mc_command", "co_command", "counters"):
            self._pass_on(m, executor, name)
        for name in ("tester", "wavefront", "fault"):
            self._pass_on(m, run, name)
        for own, credit in zip(run.credits, self.credits, strict=True):
            wiring.connect(m, own, wiring.flipped(credit))
        self._share_lines(m, fetcher, launcher)
        wiring.connect(m, fetcher.words, reader.words)
        wiring.connect(m, reader.command, executor.command)
        m.d.comb += [
            fetcher.begin.eq(executor.begin),
            fetcher.drop.eq(executor.drop),
            reader.begin.eq(executor.begin),
            reader.drop.eq(executor.drop),
        ]
        for name in ("mc_idle", "lost", "lost_fault", "read_error_address"):
            m.d.comb += getattr(executor, name).eq(getattr(self, name))
        for name in ("consumed", "idle", "lost_taken"):
            m.d.comb += getattr(self, name).eq(getattr(executor, name))
        m.d.comb += executor.reading.eq(~fetcher.idle)
        self._settings(m, executor, launcher, run)
        self._counters(m, executor)
        self._programs(m, executor, launcher, run)
        return m

    @property
    def executable(self) -> Signal:
        """Where the executable of the next program lies, for an observer."""
        base: Signal = self._launcher.base
        return base

    def _pass_on(self, m: Module, unit: wiring.Component, name: str) -> None:
        """Connect a stream of the unit to that of the same name."""
        inner, outer = getattr(unit, name), wiring.flipped(getattr(self, name))
        wiring.connect(m, inner, outer)

    def _share_lines(self, m: Module, fetcher: CommandFetcher, launcher: ProgramLauncher) -> None:
        clients, slices = 3 if self._draws else 2, LINE_BITS // self._slice_bits
        m.submodules.lines = lines = SharedClient(LineClient(self._slice_bits), clients, beats=slices)
        wiring.connect(m, lines.shared, wiring.flipped(self.lines))
        if self._draws:
            wiring.connect(m, wiring.flipped(self.draw_lines), lines.clients[2])
        for number, unit in enumerate((fetcher, launcher)):
            wiring.connect(m, unit.lines, lines.clients[number])

    def _settings(self, m: Module, executor: CommandExecutor, launcher: ProgramLauncher, run: ProgramRun) -> None:
        m.submodules.settings = settings = Settings()
        m.d.comb += [settings.words.eq(executor.command.payload.words)]
        m.d.comb += [
            settings.commands.eq(executor.settings),
            executor.domain_is_empty.eq(settings.is_empty),
            launcher.base.eq(settings.instruction_base),
            run.domain.eq(settings.domain),
            run.value.eq(settings.conditional_value),
        ]

    def _counters(self, m: Module, executor: CommandExecutor) -> None:
        m.submodules.counters = counters = PerformanceCounters()
        wiring.connect(m, executor.performance, counters.control)
        # A cycle later: whether the array is idle settles at the end of a cycle.
        m.d.comb += counters.works.eq(delay(m, ~self.array_idle | self.wavefront.valid, name="array_works"))

    def _programs(self, m: Module, executor: CommandExecutor, launcher: ProgramLauncher, run: ProgramRun) -> None:
        wiring.connect(m, executor.launcher, launcher.control)
        m.d.comb += [
            launcher.conditional_legal.eq(self.conditional_legal),
            launcher.launch_status.eq(self.launch_status),
            run.tests.eq(delay(m, self.tests, name="tests_delayed")),
            run.array_idle.eq(self.array_idle),
            self.program_starts.eq(run.starts),
            self.conditional_value.eq(run.conditional_value),
            self.program_domain.eq(run.program_domain),
            Value.cast(self.image).eq(launcher.image),
            self.image_loaded.eq(launcher.image_loaded),
            self.walked.eq(run.walked),
        ]
        if self._draws:
            self._draw(m, executor, run)
        else:
            wiring.connect(m, executor.run, run.control)
        if self._pipeline.has_geometry:
            m.d.comb += [
                self.stream.eq(executor.command.payload.words[0]),
                executor.stream_filled.eq(self.stream_filled),
            ]

    def _draw(self, m: Module, executor: CommandExecutor, run: ProgramRun) -> None:
        """Draws, which run as programs do."""
        draw, command = self.draw, executor.command.payload
        m.submodules.draw_settings = settings = DrawSettings()
        m.d.comb += [
            settings.set.eq(executor.draw.set),
            settings.start.eq(executor.draw.start),
            settings.opcode.eq(command.opcode),
            settings.words.eq(command.words),
            draw.launching.eq(executor.draw.is_draw),
            draw.start.eq(executor.draw.start),
            draw.state.eq(settings.state),
            draw.domain.eq(run.domain),
            run.start_draw.eq(executor.draw.start),
            run.control.start.eq(executor.run.start),
            executor.run.ended.eq(run.control.ended & draw.ended),
            executor.run.failed.eq(Mux(executor.draw.is_draw, draw.failed, run.control.failed)),
            Value.cast(executor.run.failure).eq(
                Mux(executor.draw.is_draw, Value.cast(draw.failure), Value.cast(run.control.failure))
            ),
        ]

"""The command processor: executes command buffers, and dispatches wavefronts to an array."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.commands import UNIT_COMMAND, BufferClient, ProcessorClient
from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.drawing import DrawClient, FilledClient
from ctm.rtl.border.lines import LINE_BITS, LineClient
from ctm.rtl.border.programs import ArrayReport, CoreCredit, LaunchClient, wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.draw_config import DrawConfig
from ctm.rtl.isa.executable import ProgramFormat
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
    host : ``In(BufferClient())``
    memory : ``Out(ProcessorClient(slice_bits, single=has_geometry))``
        It reads whole lines where the machine draws.
    co_command : ``Out(stream.Signature(UNIT_COMMAND))``
        Taken when completed.
    launch : ``Out(LaunchClient(program_format, draws=draws))``
    image_loaded : ``Out(1)``
        Pulse: the launch's image is new.
    conditional_legal : ``In(1)``
        The conditional unit can test with its buffer's format.
    tests : ``In(1)``
        The conditional unit tests each lane before its wavefront is dispatched; constant while a program runs.
    tester : ``Out(ConditionalClient(lanes))``
    wavefront : ``Out(stream.Signature(wavefront_layout(lanes, cores)))``
        With several cores, each wavefront has a credit of its core.
    credits : ``In(CoreCredit())`` for each core
    array : ``In(ArrayReport(program_format))``
        Of these wavefronts.
    walked : ``Out(range(lanes + 1))``
        Lanes of the domain that were dispatched or failed their test in this cycle.
    draw : ``Out(DrawClient(program_format))``
        Where the machine draws.
    draw_lines : ``In(LineClient())``
        Likewise: reads of a draw's indices.
    filled : ``Out(FilledClient())``
        With geometry programs.
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
            drawing |= {"filled": Out(FilledClient())}
        lanes, cores = config.wavefront_lanes, config.cores
        super().__init__(
            {
                "host": In(BufferClient()),
                "memory": Out(ProcessorClient(slice_bits, single=self._pipeline.has_geometry)),
                "co_command": Out(stream.Signature(UNIT_COMMAND)),
                "launch": Out(LaunchClient(program_format, draws=draws)),
                "image_loaded": Out(1),
                "conditional_legal": In(1),
                "tests": In(1),
                "tester": Out(ConditionalClient(lanes)),
                "wavefront": Out(stream.Signature(wavefront_layout(lanes, cores))),
                "credits": In(CoreCredit()).array(cores),
                "array": In(ArrayReport(program_format)),
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
        connect(m, flipped(self.host), executor.host)
        connect(m, executor.co_command, flipped(self.co_command))
        connect(m, run.tester, flipped(self.tester))
        connect(m, run.wavefront, flipped(self.wavefront))
        connect(m, flipped(self.array), run.array)
        for own, credit in zip(run.credits, self.credits, strict=True):
            connect(m, own, flipped(credit))
        self._connect_memory(m, executor, run)
        self._share_lines(m, fetcher, launcher)
        connect(m, fetcher.words, reader.words)
        connect(m, reader.command, executor.command)
        connect(m, executor.buffers, fetcher.buffers, reader.buffers)
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

    def _connect_memory(self, m: Module, executor: CommandExecutor, run: ProgramRun) -> None:
        """Connect the memory controller, but for the lines."""
        memory, own = self.memory, executor.memory
        connect(m, own.command, flipped(memory.command))
        connect(m, own.counters, flipped(memory.counters))
        connect(m, own.lost, flipped(memory.lost))
        m.d.comb += [
            own.idle.eq(memory.idle),
            executor.read_error_address.eq(memory.read_errors.address),
            memory.read_errors.watch.eq(run.starts),
        ]

    def _share_lines(self, m: Module, fetcher: CommandFetcher, launcher: ProgramLauncher) -> None:
        clients, slices = 3 if self._draws else 2, LINE_BITS // self._slice_bits
        m.submodules.lines = lines = SharedClient(LineClient(self._slice_bits), clients, beats=slices)
        connect(m, lines.shared, flipped(self.memory.lines))
        if self._draws:
            connect(m, flipped(self.draw_lines), lines.clients[2])
        for number, unit in enumerate((fetcher, launcher)):
            connect(m, unit.lines, lines.clients[number])

    def _settings(self, m: Module, executor: CommandExecutor, launcher: ProgramLauncher, run: ProgramRun) -> None:
        m.submodules.settings = settings = Settings()
        connect(m, executor.settings, settings.control)
        m.d.comb += [
            launcher.base.eq(settings.instruction_base),
            run.domain.eq(settings.domain),
            run.value.eq(settings.conditional_value),
        ]

    def _counters(self, m: Module, executor: CommandExecutor) -> None:
        m.submodules.counters = counters = PerformanceCounters()
        connect(m, executor.performance, counters.control)
        # A cycle later: whether the array is idle settles at the end of a cycle.
        m.d.comb += counters.works.eq(delay(m, ~self.array.idle | self.wavefront.valid, name="array_works"))

    def _programs(self, m: Module, executor: CommandExecutor, launcher: ProgramLauncher, run: ProgramRun) -> None:
        connect(m, executor.launcher, launcher.control)
        m.d.comb += [
            launcher.conditional_legal.eq(self.conditional_legal),
            launcher.launch_status.eq(self.launch.status),
            run.tests.eq(delay(m, self.tests, name="tests_delayed")),
            self.launch.conditional_value.eq(run.conditional_value),
            self.launch.domain.eq(run.program_domain),
            Value.cast(self.launch.image).eq(launcher.image),
            self.image_loaded.eq(launcher.image_loaded),
            self.walked.eq(run.walked),
        ]
        if self._draws:
            self._draw(m, executor, run)
        else:
            connect(m, executor.run, run.control)
        if self._pipeline.has_geometry:
            m.d.comb += [
                self.filled.stream.eq(executor.command.payload.words[0]),
                executor.stream_filled.eq(self.filled.dwords),
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

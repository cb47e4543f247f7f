"""The hardware as an engine that writes what every signal does in every cycle."""

from pathlib import Path
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.engines.cycle_accurate import SimulatedMachine
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.model import hardware, key
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.engines.waves.traced import TracedMachine
from ctm.sim.engines.waves.window import Waves, Written
from ctm.sim.engines.waves.wrapping import sources, wrapper


class WavesEngine(RtlEngine):
    """`RtlEngine` that writes a wave: the same bits in the same cycles.

    The file is complete after `end`.
    """

    def __init__(self, config: MachineConfig, *, watch: Waves, **options: Any) -> None:
        self._waves = watch
        super().__init__(config, **options)

    @staticmethod
    def traced_library(config: MachineConfig, depth: int, tell: Notice = lambda: None) -> Path:
        """The compiled model, in which memories of up to `depth` words can be written; see `CompiledEngine.library`."""
        config = hardware(config)

        def model() -> Model:
            tell()
            # Imported here, because a start with a model that is in the cache should not wait for it.
            from ctm.sim.engines.waves.translation import traced

            return traced(config, depth=depth)

        return build(model, wrapper(config), key=f"waves {sources()} {depth} {key(config)}")

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The compiled machine."""
        library = self.traced_library(config, self._waves.depth, self.tell)
        self._traced = TracedMachine(library, config, self.memory, self.disturbance)
        if self._waves.path is not None:
            self._traced.open(self._waves, self._waves.path)
        return self._traced

    @classmethod
    def prepare_traced(cls, config: MachineConfig, waves: Waves, tell: Notice) -> None:
        """Compile the machine for such waves; see `Engine.prepare`."""
        config.check_hardware()
        cls.traced_library(config, waves.depth, tell)

    def end(self) -> Written:
        """End the file, which can then be read, and say what it has.

        Raises
        ------
        OSError
            Some of it could not be written; the run went on without it.
        """
        self._traced.close()
        return self._traced.written()

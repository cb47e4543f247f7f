"""Exports: to output registers, to the conditional value, to memory."""

from collections.abc import Iterable

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH
from ctm.sim.engines.fast.finish import Output
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r700.fetches import Fetches, selected
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.golden.r700.instruction import Export


class Exports:
    """The output registers of `outputs`, and the conditional value, of a program."""

    def __init__(self, kernel: Kernel, fetches: Fetches, outputs: Iterable[int], *, conditional_is_own: bool) -> None:
        self._kernel, self._fetches = kernel, fetches
        self._conditional_is_own = conditional_is_own
        lanes = kernel.lanes
        names = [(output, channel) for output in outputs for channel in range(CHANNELS)]
        self._words = {name: lanes.builder.alloca(lanes.integers) for name in names}
        self._written = {name: lanes.builder.alloca(lanes.integers) for name in names}
        self._conditional = lanes.builder.alloca(lanes.integers)

    @property
    def _lanes(self) -> Lanes:
        return self._kernel.lanes

    def clear(self, conditional: Value) -> None:
        """As at a program's start, with the words of the conditional value."""
        for pointer in (*self._words.values(), *self._written.values()):
            self._lanes.builder.store(self._lanes.none, pointer)
        self._lanes.builder.store(conditional, self._conditional)

    def execute(self, export: Export, executing: Value, valid_mask: Value) -> None:
        """Execute an export for the lanes in `executing`; memory is written for those in `valid_mask`."""
        for burst_index in range(export.burst):
            words = self._fetches.whole(export.register + burst_index, relative=export.relative)
            if not export.selects:
                index = None
                if export.index_register is not None:
                    index = self._fetches.whole(export.index_register, relative=False)[0]
                stores = self._lanes.builder.and_(executing, valid_mask)
                self._fetches.memory.write(export, burst_index, words, index, stores)
                continue
            for channel, select in enumerate(export.selects):
                if select != ComponentSelect.MASK.value:
                    self._set(export.base + burst_index, channel, selected(self._lanes, words, select), executing)

    def words(self, output: int) -> list[Value]:
        """The four words of an output register at the end."""
        return [self._load(self._words[output, channel]) for channel in range(CHANNELS)]

    def output(self, output: int) -> Output:
        """An output register at the end."""
        return Output(
            values=[self._lanes.as_floats(words) for words in self.words(output)],
            written=[self._load(self._written[output, channel]) for channel in range(CHANNELS)],
        )

    @property
    def conditional(self) -> Value:
        """The conditional value."""
        return self._lanes.as_floats(self._load(self._conditional))

    def _set(self, target: int, channel: int, words: Value, executing: Value) -> None:
        if target != COMPUTED_DEPTH:
            self._store(words, self._words[target, channel], executing)
            self._store(self._lanes.all, self._written[target, channel], executing)
        elif channel == 0 and self._conditional_is_own:
            self._store(words, self._conditional, executing)

    def _store(self, words: Value, pointer: Value, mask: Value) -> None:
        self._lanes.builder.store(self._lanes.where(mask, words, self._load(pointer)), pointer)

    def _load(self, pointer: Value) -> Value:
        return self._lanes.builder.load(pointer, typ=self._lanes.integers)

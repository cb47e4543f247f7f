"""Memory at addresses that the program computes: MEM_EXPORT and RD_SCATTER, MEM_SCRATCH and RD_SCRATCH."""

from collections.abc import Sequence

from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS, WORD_BYTES
from ctm.rtl.isa.r700.exports import UNBOUNDED, ExportOperation
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import Slot, output_number
from ctm.sim.engines.fast.vector.lanes import BYTE, INT, LONG, Value
from ctm.sim.golden.r700.instruction import Export, MemoryRead


class MemoryAccess:
    """Reads and writes dwords of outputs 0 and 3, which are FLOAT32_1 and LINEAR."""

    def __init__(self, kernel: Kernel, *, writes: bool) -> None:
        self._kernel, self._lanes = kernel, kernel.lanes
        self._writes = writes
        """Whether the output mask lets MEM_EXPORT write."""
        self._domain = [kernel.parameter(slot, INT) for slot in (Slot.I0, Slot.J0, Slot.I1, Slot.J1)]

    def pixel_number(self) -> Value:
        """The number of each lane's pixel in the domain, row by row; words."""
        kernel, lanes, builder = self._kernel, self._lanes, self._lanes.builder
        i0, j0, i1, _ = (lanes.splat(bound) for bound in self._domain)
        width = builder.add(builder.sub(i1, i0), lanes.integer(1))
        return builder.add(builder.mul(builder.sub(kernel.y, j0), width), builder.sub(kernel.x, i0))

    def write(
        self, export: Export, burst_index: int, words: Sequence[Value], index: Value | None, executing: Value
    ) -> None:
        """Store the components in the export's mask of register `burst_index` of the burst.

        Lanes write in order, each its components in order; the last one counts.
        """
        kernel, lanes, builder = self._kernel, self._lanes, self._lanes.builder
        is_scratch = export.operation is ExportOperation.MEM_SCRATCH
        if not export.mask or not (is_scratch or self._writes):
            return
        chosen = builder.and_(executing, kernel.covered)
        if is_scratch:
            number, elements = SCRATCH_OUTPUT, self._scratch(export.base + burst_index, index)
        else:
            number, elements = (
                MEMORY_OUTPUT,
                self._scattered(export.base, export.size, export.element, burst_index, index),
            )
        stored = []
        for component in export.mask:
            at, inside = elements[component]
            gate = lanes.scalars(builder.and_(chosen, lanes.mask(inside)))
            stored.append((lanes.scalars(self._address(number, at)), lanes.scalars(words[component]), gate))
        for lane in range(lanes.width):
            for addresses, values, gates in stored:
                with builder.if_then(builder.icmp_signed("!=", gates[lane], ir.Constant(INT, 0))):
                    builder.store(values[lane], self._pointer(number, addresses[lane]))

    def read(self, instruction: MemoryRead, burst_index: int, source: Sequence[Value]) -> list[Value]:
        """The words that register `burst_index` of the burst gets; 0 where there is none."""
        index = None if instruction.component is None else source[instruction.component]
        if instruction.scratch:
            covered = self._lanes.chosen(self._kernel.covered)
            number, elements = SCRATCH_OUTPUT, self._scratch(instruction.base + burst_index, index)
            elements = [(at, self._lanes.builder.and_(inside, covered)) for at, inside in elements]
        else:
            number = MEMORY_OUTPUT
            elements = self._scattered(instruction.base, instruction.size, instruction.element, burst_index, index)
        return [self._load(number, at, inside) for at, inside in elements]

    def _scattered(
        self, base: int, size: int, element: int, burst_index: int, index: Value | None
    ) -> list[tuple[Value, Value]]:
        """Of the components of an element of the memory area the dwords, 64 bits, and the bits of those in bounds."""
        lanes, builder = self._lanes, self._lanes.builder
        first = lanes.long((base + burst_index) * element)
        if index is not None:
            first = builder.add(first, builder.mul(builder.zext(index, lanes.longs), lanes.long(element)))
        dwords = [builder.add(first, lanes.long(component)) for component in range(CHANNELS)]
        inside = [self._exists(MEMORY_OUTPUT, dword) for dword in dwords]
        if size != UNBOUNDED:
            bound = lanes.long((base + size + 1) * element)
            inside = [
                builder.and_(bits, builder.icmp_unsigned("<", dword, bound))
                for bits, dword in zip(inside, dwords, strict=True)
            ]
        return list(zip(dwords, inside, strict=True))

    def _scratch(self, base: int, index: Value | None) -> list[tuple[Value, Value]]:
        """The same of a vector of each lane's own scratch; lanes that are not covered have none."""
        lanes, builder = self._lanes, self._lanes.builder
        i0, j0, i1, j1 = self._domain
        one = ir.Constant(INT, 1)
        width, height = (builder.add(builder.sub(last, first), one) for first, last in ((i0, i1), (j0, j1)))
        pixels = lanes.splat(builder.zext(builder.mul(width, height), LONG))
        vector = lanes.long(base)
        if index is not None:
            vector = builder.add(vector, builder.zext(index, lanes.longs))
        # A product of 32 and 24 bits.
        vector = builder.add(builder.mul(vector, pixels), builder.zext(self.pixel_number(), lanes.longs))
        first = builder.mul(vector, lanes.long(CHANNELS))
        dwords = [builder.add(first, lanes.long(component)) for component in range(CHANNELS)]
        return [(dword, self._exists(SCRATCH_OUTPUT, dword)) for dword in dwords]

    def _exists(self, output: int, dword: Value) -> Value:
        """The bits of dwords that are not beyond an output's last one."""
        burst_index, builder = self._kernel.buffers[output_number(output)], self._lanes.builder
        rows = builder.sub(burst_index.height_limit, ir.Constant(INT, 1))
        count = builder.add(
            builder.mul(rows, builder.udiv(burst_index.stride, ir.Constant(INT, WORD_BYTES))), burst_index.width_limit
        )
        is_empty = builder.icmp_unsigned("==", burst_index.width_limit, ir.Constant(INT, 0))
        count = builder.select(is_empty, ir.Constant(INT, 0), count)
        return builder.icmp_unsigned("<", dword, self._lanes.splat(builder.zext(count, LONG)))

    def _address(self, output: int, dword: Value) -> Value:
        """Byte addresses, which wrap at 4 GiB."""
        lanes, builder = self._lanes, self._lanes.builder
        burst_index = self._kernel.buffers[output_number(output)]
        low = builder.trunc(dword, lanes.integers)
        return builder.add(lanes.splat(burst_index.base), builder.mul(low, lanes.integer(WORD_BYTES)))

    def _pointer(self, output: int, address: Value) -> Value:
        memory = self._kernel.buffers[output_number(output)].memory
        return self._lanes.builder.gep(memory, [self._lanes.builder.zext(address, LONG)], source_etype=BYTE)

    def _load(self, output: int, dword: Value, inside: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        address = self._address(output, lanes.choose(inside, dword, lanes.long(0)))
        result = ir.Constant(lanes.integers, ir.Undefined)
        for lane, scalar in enumerate(lanes.scalars(address)):
            result = lanes.put(result, builder.load(self._pointer(output, scalar), typ=INT), lane)
        return lanes.choose(inside, result, lanes.none)

"""Hardware in which a read of a row that is being written returns wrong bits."""

from typing import Any

from amaranth import Cat, Module, Signal, Value
from amaranth.hdl import MemoryInstance
from amaranth.lib.memory import Memory

from ctm.rtl.lib.ram import UNCHECKED


class Colliding:
    """A platform on which `BlockRam` returns wrong bits where its result is undefined; other memories are unchanged."""

    def get_memory(self, memory: Memory) -> Any:
        """The hardware of a memory."""
        instance = MemoryInstance(data=memory.data, attrs=memory.attrs)
        writers = {
            port: instance.write_port(domain=port.domain, addr=port.addr, data=port.data, en=port.en)
            for port in memory.write_ports
        }
        m = Module()
        m.submodules.instance = instance
        for port in memory.read_ports:
            transparent = [writers[writer] for writer in port.transparent_for]
            bits = Signal(len(Value.cast(port.data)))
            instance.read_port(domain=port.domain, data=bits, addr=port.addr, en=port.en, transparent_for=transparent)
            wrong = Signal(len(bits))
            if UNCHECKED in memory.attrs:
                assert port.domain == "sync" and not transparent
                with m.If(port.en):
                    m.d.sync += wrong.eq(0)
                    for writer in memory.write_ports:
                        lane_bits = len(bits) // len(writer.en)
                        written = Cat(enable.replicate(lane_bits) for enable in writer.en)
                        with m.If(writer.addr == port.addr):
                            m.d.sync += wrong.eq(written)
            m.d.comb += Value.cast(port.data).eq(bits ^ wrong)
        return m

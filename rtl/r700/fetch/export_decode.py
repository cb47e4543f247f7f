"""Exports, decoded: the tasks of their micro-ops, and their access to memory.

Source: R700-Family Instruction Set Architecture, section 3.4; docs/draws.md; docs/design/r700-core.md.
"""

from amaranth import Const, Module, Mux, Value
from amaranth.lib import data

from ctm.rtl.border.shading import is_of_threads
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.lib.views import record
from ctm.rtl.r700.fetch.operation import ACCESS, Task


def writes_memory(unit: Value) -> Value:
    """Whether an export writes memory: an area, or items of a draw's threads."""
    operation = Value.cast(data.View(exports.EXPORT_DWORD1_BUF, unit[WORD_BITS:]).cf_inst)
    return ~operation.matches(*(each.value for each in exports.SWIZZLED))


def export_task(unit: Value, stage: Value, *, at_index: Value, draws: bool) -> Value:
    """The task of a micro-op of an export, in a program of `stage`.

    With `at_index` it is the first one of two for a register that is written to memory. Without `draws` there is no
    stage of threads.
    """
    of_threads = is_of_threads(stage) if draws else Const(0)
    addresses = Mux(of_threads, Task.ITEMS.value, Task.ADDRESSES.value)
    writes = Mux(at_index, addresses, Task.WRITE.value)
    return Mux(writes_memory(unit), writes, Mux(of_threads, Task.VECTOR.value, Task.EXPORT.value))


def export_access(m: Module, unit: Value) -> Value:
    """The access of an export to an area, by `ACCESS`."""
    low = data.View(exports.EXPORT_DWORD0, unit[:WORD_BITS])
    high = data.View(exports.EXPORT_DWORD1_BUF, unit[WORD_BITS:])
    access: data.View = record(ACCESS, name="export_access")
    m.d.comb += [
        access.scratch.eq(Value.cast(high.cf_inst) == exports.ExportOperation.MEM_SCRATCH.value),
        # Types with an index are odd.
        access.indexed.eq(low.type[0]),
        access.base.eq(low.array_base),
        access.size.eq(high.array_size),
        access.element.eq(low.elem_size),
    ]
    return Value.cast(access)


assert [kind.value & 1 for kind in (exports.MemoryWrite.WRITE_IND, exports.MemoryWrite.WRITE_IND_ACK)] == [1, 1]

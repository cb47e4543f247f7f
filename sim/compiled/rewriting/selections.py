"""Elements of wide signals in Verilog: an indexed part-select instead of a shift of the whole signal.

Yosys writes a selected element as ``element = words >> index * width``. A model computes that shift in every word of
the signal, some dozens of instructions, and then uses one. A shift that cannot be replaced gets a named result, of
which a part-select takes the element.
"""

import re

_WIDE = 64
"""Bits up to which a model's shift is one instruction."""
_NAME = r"(?:\\\S+ |[A-Za-z_$][\w$]*)"
_RANGE = r"\[(\d+)(?::(\d+))?\]"
_MODULE = re.compile(r"(?m)^(?=module )")
_DECLARATION = re.compile(rf"(?m)^  (?:wire|reg|input|output) (?:signed )?(?:\[(\d+):0\] )?({_NAME})")
_PRODUCT = re.compile(
    rf"(?m)^  assign ({_NAME}) *= (?:\{{ \d+'h0+, )?({_NAME}) *(?:{_RANGE})?(?: \}})? \* \d+'h([0-9a-f]+);$"
)
_SHIFT = re.compile(rf"(?m)^  assign ({_NAME}) *= ({_NAME}) *(?:{_RANGE})? >> ({_NAME}) *(?:{_RANGE})? *;$")


def with_selections(verilog: str) -> str:
    """The same Verilog, each element of a wide signal selected and not shifted to its offset.

    Only where every index has an element: beyond the last one a shift gives 0, a part-select an undefined value.
    """
    return "".join(_module(text) for text in _MODULE.split(verilog))


def _module(text: str) -> str:
    widths = {name.strip(): int(last or 0) + 1 for last, name in _DECLARATION.findall(text)}

    def width(name: str, high: str | None, low: str | None) -> int:
        return int(high) - int(low or high) + 1 if high else widths[name.strip()]

    products = {
        name.strip(): (width(factor, high, low), int(stride, 16))
        for name, factor, high, low, stride in _PRODUCT.findall(text)
    }

    def selection(shift: re.Match[str]) -> str:
        element, whole, high, low, offset, *offset_range = shift.groups()
        # A bit's offset is its index, that of a longer element a product.
        index = width(offset, *offset_range), 1
        index_bits, stride = index if offset_range[0] else products.get(offset.strip(), index)
        length, element_bits = width(whole, high, low), widths[element.strip()]
        if length > _WIDE and element_bits == stride and element_bits << index_bits <= length:
            wanted = (widths[whole.strip()] - 1).bit_length()
            start = int(offset_range[1] or offset_range[0] or 0)
            taken = min(index[0], wanted)
            bits = _exact(offset, widths[offset.strip()], start, taken)
            if high:
                bits = f"{wanted}'d{low or high} + {_padded(bits, wanted - taken)}"
            return f"  assign {element} = {whole} [{bits} +: {element_bits}];"
        if length > element_bits:
            shifted = f"\\{element.strip().removeprefix(chr(92))}$shifted "
            declared = shift[0].replace(f"assign {element}", f"wire [{length - 1}:0] {shifted}", 1)
            return f"{declared}\n  assign {element} = {shifted}[{element_bits - 1}:0];"
        return shift[0]

    return _SHIFT.sub(selection, text)


def _exact(name: str, width: int, start: int, length: int) -> str:
    """The bits of an index that select among the elements; those above are zero."""
    return name if length == width else f"{name} [{start + length - 1}:{start}]"


def _padded(bits: str, missing: int) -> str:
    return f"{{ {missing}'h0, {bits} }}" if missing else bits

"""Elements of wide signals in Verilog: a part-select in place of a shift of the whole.

Yosys writes a chosen element as ``element = words >> index * width``. A model computes that shift in every word of the
signal, some dozens of instructions, and then keeps one.
"""

import re

_WIDE = 64
"""Bits up to which a model's shift is one instruction."""
_NAME = r"(?:\\\S+ |[A-Za-z_$][\w$]*)"
_RANGE = r"\[(\d+)(?::(\d+))?\]"
_MODULE = re.compile(r"(?m)^(?=module )")
_DECLARATION = re.compile(rf"(?m)^  (?:wire|reg|input|output) (?:signed )?(?:\[(\d+):0\] )?({_NAME})")
_PRODUCT = re.compile(rf"(?m)^  assign ({_NAME}) *= ({_NAME}) *(?:{_RANGE})? \* \d+'h([0-9a-f]+);$")
_SHIFT = re.compile(rf"(?m)^  assign ({_NAME}) *= ({_NAME}) *(?:{_RANGE})? >> ({_NAME}) *(?:{_RANGE})? *;$")


def with_selections(verilog: str) -> str:
    """The same Verilog, each element of a wide signal selected and not shifted to its place.

    Only where every index has an element: beyond the last one a shift gives 0, a part-select nothing that is defined.
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
        element, whole, high, low, place, *place_range = shift.groups()
        # A bit's place is its index, that of a longer element a product.
        index = width(place, *place_range), 1
        index_bits, stride = index if place_range[0] else products.get(place.strip(), index)
        length, element_bits = width(whole, high, low), widths[element.strip()]
        if length <= _WIDE or element_bits != stride or element_bits << index_bits > length:
            return shift[0]
        first = f"{low or high} + " if high else ""
        bits = f"[{place_range[0]}:{place_range[1] or place_range[0]}]" if place_range[0] else ""
        return f"  assign {element} = {whole} [{first}{place} {bits} +: {element_bits}];"

    return _SHIFT.sub(selection, text)

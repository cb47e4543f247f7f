"""What R5xx cores cannot do with whole numbers: calls of functions that only name it, so that LLVM keeps them.

Where LLVM finds that a result is not needed, or is known after all, such a call is gone and the kernel compiles.
"""

from ctm.rtl.isa.limits import WORD_BITS

_PREFIX = "ctm.unsupported"
_EXACT = "R5xx cores hold whole numbers as floats, exact up to 2^24 = 16777216"
_NO_BITS = "R5xx cores hold whole numbers as floats, which have no bits"
_SENTENCES = {
    "bits": f"'{{}}' of two whole numbers neither of which is known: {_NO_BITS}; one of them has to be a number",
    "word": f"the bits of a float: {_NO_BITS}",
    "function": f"{{}}(): {_NO_BITS}",
    "wide": f"integers of 64 bits: {_EXACT}",
    "number": f"the whole number {{}}: {_EXACT}",
    "sign": f"a mask of {{}} bits of a number that may be negative, or larger: {_EXACT}",
    "beyond": f"a whole number beyond {{}}: {_EXACT}",
}
"""By kind; the detail stands in the braces."""
_NAMES = {
    "and": "&", "or": "|", "xor": "^", "ctpop": "bit_count", "ctlz": "leading_zeros", "cttz": "trailing_zeros",
    "fshl": "rotate_left", "fshr": "rotate_right", "bswap": "__builtin_bswap32", "bitreverse": "__builtin_bitreverse32",
}  # fmt: skip
"""What users call that which LLVM has a name for."""


def unsupported(kind: str, detail: object, type_: str) -> str:
    """The function that stands for an instruction whose result has a type; kinds are those of the sentences."""
    return f"{_PREFIX}.{kind}.{detail}.{type_}"


def declaration(name: str) -> str:
    """Its declaration: it has no effects."""
    return f"declare {name.rpartition('.')[2]} @{name}() nounwind willreturn memory(none)"


def reason(name: str) -> str:
    """The sentence that such a function stands for; "" for another one."""
    if not name.startswith(f"{_PREFIX}."):
        return ""
    kind, _, detail = name.removeprefix(f"{_PREFIX}.").rpartition(".")[0].partition(".")
    if kind == "number" and int(detail) < 0:
        detail += f", or {int(detail) + (1 << WORD_BITS)} without a sign"
    return _SENTENCES[kind].format(_NAMES.get(detail, detail))

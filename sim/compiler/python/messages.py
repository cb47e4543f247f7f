"""What compilers of C say of a kernel, in words of Python."""

_UNROLLED = "a loop over unroll(range(...)) makes indices known"
_WORDS = (
    ("an array with a computed index", "a list with a computed index"),
    ("is read with a computed index, or copied:", "is read with a computed index:"),
    (
        "R5xx cores cannot choose a register; #pragma unroll makes indices known",
        f"{_UNROLLED}, and an Image is read with any",
    ),
    ("give a larger table as constants, or an input", "a parameter of list[float], or an Image, may be larger"),
    (
        "the number of a constant is computed: R5xx cores need it in the instruction",
        f"a parameter's list with a computed index: R5xx cores need it in the instruction; {_UNROLLED}",
    ),
    ("#pragma unroll makes indices known", _UNROLLED),
    ("the number of a constant is", "an item of a parameter's list is constant"),
    ("a variable that is volatile, or that a pointer chooses", "an item of a list that a condition chooses"),
    ("use texel(), constant(), output() and write()", "use texel() and lists"),
    ("arrays of", "lists of"),
    ("the bits of a float:", "the bits of a float, or an Image of whole numbers:"),
)
"""What is said of C, whole sentences first, and of Python."""


def in_words_of_python(message: str) -> str:
    """A message of the compiler of C for a kernel in Python."""
    for of_c, of_python in _WORDS:
        message = message.replace(of_c, of_python)
    return message

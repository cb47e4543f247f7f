"""What compilers of C say of a kernel, in words of Python."""

_UNROLLED = "a loop over unroll(range(...)) makes indices known"
_WORDS = (
    ("#pragma unroll makes indices known", _UNROLLED),
    ("an array with a computed index", "a list with a computed index"),
    (
        "fill an array in the kernel by assignments, or give it as constants",
        f"{_UNROLLED}, and a parameter list[float] or list[int] needs none on R700 cores",
    ),
    ("a variable that is volatile, or that a pointer chooses", "an item that is computed in both of two ways"),
    ("the number of a constant is computed", f"an item of a parameter list with a computed index; {_UNROLLED}"),
    ("use texel(), constant(), output() and write()", "use texel() and lists of the kernel's own"),
    ("arrays of", "lists of"),
)


def in_words_of_python(message: str) -> str:
    """A message of the compiler of C for a user who wrote Python."""
    for of_c, of_python in _WORDS:
        message = message.replace(of_c, of_python)
    return message

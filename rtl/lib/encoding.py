"""Numbers of bits."""

from amaranth import Cat, Const, Mux, Value


def one_hot_index(bits: Value) -> Value:
    """The number of the only one in `bits`; 0 if there is none."""
    width = max(1, (len(bits) - 1).bit_length())
    return Cat(Cat(bit for index, bit in enumerate(bits) if index >> position & 1).any() for position in range(width))


def lowest_one(bits: Value) -> Value:
    """The lowest one of `bits`, alone."""
    return bits & (~bits + 1)[: len(bits)]


def highest_one_index(bits: Value) -> Value:
    """The number of the highest one in `bits`; 0 if there is none. A single bit's number has no bits."""
    if len(bits) == 1:
        return Const(0, 0)
    half = 1 << (len(bits) - 1).bit_length() - 1
    lower, upper = bits[:half], bits[half:]
    return Cat(Mux(upper.any(), highest_one_index(upper), highest_one_index(lower)), upper.any())

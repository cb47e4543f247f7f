"""Numbers of bits."""

from amaranth import Cat, Value


def one_hot_index(bits: Value) -> Value:
    """The number of the only one in `bits`; 0 if there is none."""
    width = max(1, (len(bits) - 1).bit_length())
    return Cat(Cat(bit for index, bit in enumerate(bits) if index >> position & 1).any() for position in range(width))


def lowest_one(bits: Value) -> Value:
    """The lowest one of `bits`, alone."""
    return bits & (~bits + 1)[: len(bits)]

"""Lines that are written, and their slices."""

from ctm.rtl.border.lines import line_write_layout
from ctm.rtl.isa.word import pack, unpack

LINE_BYTES = 64
LINE_BITS = 8 * LINE_BYTES
Line = tuple[int, bytes, int]
"""Its number, its bytes, and those that are written, as a mask."""


def sliced(line: int, data: bytes, mask: int, slice_bits: int = LINE_BITS) -> list[int]:
    """The payloads that write a line: from the first to the last slice with a byte that is written."""
    size = slice_bits // 8
    pairs = [(data[start : start + size], mask >> start & (1 << size) - 1) for start in range(0, LINE_BYTES, size)]
    used = [index for index, (_, own) in enumerate(pairs) if own]
    return [
        pack(
            line_write_layout(slice_bits), line=line, bits=int.from_bytes(pairs[index][0], "little"),
            mask=pairs[index][1], slice=index, remaining=used[-1] - index,
        )
        for index in range(used[0], used[-1] + 1)
    ]  # fmt: skip


def joined(payloads: list[int], slice_bits: int = LINE_BITS) -> list[Line]:
    """The lines of slices. Bytes that are not written are 0; a line whose last slices are missing is left out."""
    layout, size, found = line_write_layout(slice_bits), slice_bits // 8, []
    line, data, mask, remaining = 0, 0, 0, 0
    for payload in payloads:
        fields = unpack(layout, payload)
        assert not remaining or (fields["line"], fields["remaining"]) == (line, remaining - 1), (
            "slices of a line are parted, or missing"
        )
        if not remaining:
            assert fields["mask"], "the first slice writes nothing"
            line, data, mask = fields["line"], 0, 0
        start, remaining = size * fields["slice"], fields["remaining"]
        written = sum(0xFF << 8 * byte for byte in range(size) if fields["mask"] >> byte & 1)
        data |= (fields["bits"] & written) << 8 * start
        mask |= fields["mask"] << start
        if not remaining:
            assert fields["mask"], "the last slice writes nothing"
            found.append((line, data.to_bytes(LINE_BYTES, "little"), mask))
    return found

"""What stands in for LZ4 and zlib in the FST writer is read by what knows their formats."""

import ctypes
import random
import subprocess
import zlib
from importlib import resources
from pathlib import Path

import pytest

from ctm.sim.compiled.tools.toolchain import find_compiler

_EXPORTS = """
extern "C" int lz4(const char* source, char* target, int size, int most) {
    return LZ4_compress_default(source, target, size, most);
}
extern "C" int bound(int size) { return LZ4_compressBound(size); }
extern "C" int deflate(unsigned char* target, unsigned long* most, const unsigned char* source, unsigned long size) {
    return compress2(target, most, source, size, 4);
}
"""
_random = random.Random(5)
SAMPLES = {
    "nothing": b"",
    "short": b"abcabcabc",
    "zeros": bytes(70_000),
    "random": _random.randbytes(70_000),
    "words": b"".join(_random.choice((b"valid", b"ready", b"payload", b"\0\1")) for _ in range(30_000)),
    "far": _random.randbytes(100) * 2 + _random.randbytes(66_000) + b"end of it" * 3,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("compression")
    text = resources.files("ctm.sim.engines.waves").joinpath("compression.h").read_text() + _EXPORTS
    (folder / "a.cc").write_text(text)
    command = [*find_compiler().command, "-std=c++17", "-O1", "-shared", "-fPIC", "a.cc", "-o", "a.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "a.so"))


def plain(block: bytes) -> bytes:
    """A block of LZ4, decoded; source: lz4_Block_format.md."""
    found, at = bytearray(), 0

    def length(nibble: int) -> int:
        nonlocal at
        total = nibble
        while nibble == 15:
            total, at, more = total + block[at], at + 1, block[at]
            if more != 255:
                break
        return total

    while at < len(block):
        token, at = block[at], at + 1
        count = length(token >> 4)
        found += block[at : at + count]
        at += count
        if at == len(block):
            break
        offset, at = int.from_bytes(block[at : at + 2], "little"), at + 2
        assert 0 < offset <= len(found)
        for _ in range(length(token & 15) + 4):
            found.append(found[-offset])
    return bytes(found)


@pytest.mark.parametrize("sample", SAMPLES)
def test_blocks_of_lz4_decode_to_what_they_were(library: ctypes.CDLL, sample: str) -> None:
    source = SAMPLES[sample]
    most = library.bound(len(source))
    target = ctypes.create_string_buffer(most)
    size = library.lz4(source, target, len(source), most)
    assert 0 < size <= most
    assert plain(target.raw[:size]) == source
    if sample in ("zeros", "words"):
        assert size < len(source) // 2
    assert library.lz4(source, target, len(source), most - 1) == 0


@pytest.mark.parametrize("sample", SAMPLES)
def test_zlib_reads_what_is_not_compressed(library: ctypes.CDLL, sample: str) -> None:
    source = SAMPLES[sample]
    target = ctypes.create_string_buffer(len(source) + 100)
    size = ctypes.c_ulong(len(target))
    assert library.deflate(target, ctypes.byref(size), source, ctypes.c_ulong(len(source))) == 0
    assert zlib.decompress(target.raw[: size.value]) == source

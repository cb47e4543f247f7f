"""Messages of one block, and their hashes by hashlib."""

import hashlib

import numpy as np

from ctm.examples.expectation import Array, Expectation

WIDTH, HEIGHT = 32, 32
WORDS = 16
"""Of a block, 32 bits each, the highest byte first."""
LONGEST = 55
"""Bytes of a message that fits one block with its padding."""

_PRIMES = [n for n in range(2, 312) if all(n % divisor for divisor in range(2, n))]
ROUND_CONSTANTS = [int(prime ** (1 / 3) % 1 * 2**32) for prime in _PRIMES]
"""The first 32 bits after the point of the cube roots of the first 64 primes."""


def messages(count: int) -> list[bytes]:
    """Messages of all lengths that fit, of random bytes."""
    random = np.random.default_rng(5)
    return [random.bytes(index % (LONGEST + 1)) for index in range(count)]


def block(message: bytes) -> bytes:
    """A message with its padding."""
    return (message + b"\x80").ljust(LONGEST + 1, b"\0") + (8 * len(message)).to_bytes(8, "big")


def inputs(width: int = WIDTH, height: int = HEIGHT) -> dict[str, Array]:
    """Blocks as the bits of float32 [height, 4 * width, 4], four elements for each pixel."""
    data = b"".join(block(message) for message in messages(width * height))
    words = np.frombuffer(data, ">u4").astype(np.uint32)
    return {"blocks.npy": words.view(np.float32).reshape(height, WORDS // 4 * width, 4)}


def expected(arrays: dict[str, Array]) -> dict[str, Expectation]:
    """The hashes as the bits of float32 [height, width, 4]: the first four words, and the others."""
    height, columns, _ = arrays["blocks.npy"].shape
    width = columns * 4 // WORDS
    hashes = b"".join(hashlib.sha256(message).digest() for message in messages(width * height))
    words = np.frombuffer(hashes, ">u4").astype(np.uint32).view(np.float32).reshape(height, width, 2, 4)
    return {f"hash{half}.npy": Expectation(np.ascontiguousarray(words[:, :, half])) for half in range(2)}

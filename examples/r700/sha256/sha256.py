"""SHA-256 of messages of one block, as sha256.s: each pixel hashes the 16 words of its own block."""

from ctm import kernel
from ctm.language import Image, ivec2, rotate_right, texel, uint, unroll, uvec4

ROUNDS, WORDS = 64, 16


def rotations(x: uint, a: int, b: int, c: int) -> uint:
    """Three rotations of a word, added bit by bit."""
    return rotate_right(x, a) ^ rotate_right(x, b) ^ rotate_right(x, c)


def mixed(x: uint, a: int, b: int, shift: int) -> uint:
    """The same with a shift for the third."""
    return rotate_right(x, a) ^ rotate_right(x, b) ^ (x >> shift)


@kernel
def sha256(pixel: ivec2, blocks: Image[uint], constants: list[uvec4]) -> tuple[uvec4, uvec4]:
    """The first four words of the hash, and the others; `constants` are the cube roots of primes, four to an item."""
    first = uvec4(0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A)
    second = uvec4(0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
    w = [uint(0)] * WORDS
    for k in unroll(range(WORDS // 4)):
        w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3] = texel(blocks, 4 * pixel.x + k, pixel.y)
    abcd, efgh = first, second
    for chunk in range(ROUNDS // WORDS):
        for i in unroll(range(WORDS)):
            choice = (efgh.x & efgh.y) ^ (~efgh.x & efgh.z)
            majority = (abcd.x & abcd.y) ^ (abcd.x & abcd.z) ^ (abcd.y & abcd.z)
            one = efgh.w + rotations(efgh.x, 6, 11, 25) + choice + constants[4 * chunk + i // 4][i % 4] + w[i]
            two = rotations(abcd.x, 2, 13, 22) + majority
            efgh = uvec4(abcd.w + one, efgh.xyz)
            abcd = uvec4(one + two, abcd.xyz)
            following = mixed(w[(i + 1) % WORDS], 7, 18, 3) + mixed(w[(i + 14) % WORDS], 17, 19, 10)
            w[i] += following + w[(i + 9) % WORDS]
    return first + abcd, second + efgh

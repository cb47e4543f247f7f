/* SHA-256 of messages of one block, as sha256.s: each pixel hashes the 16 words of its own block.
 *
 * Words are the bits of floats. Sixteen rounds are unrolled, so that the message schedule is in registers and every
 * index into it is a constant. Float constants are read by computed numbers. */
#include <ctm/kernel.h>

#define ROUNDS 64
#define WORDS 16

static uint rotations(uint x, int a, int b, int c) {
    return rotate_right(x, a) ^ rotate_right(x, b) ^ rotate_right(x, c);
}

static uint mixed(uint x, int a, int b, int shift) { return rotate_right(x, a) ^ rotate_right(x, b) ^ x >> shift; }

kernel void sha256(ivec2 pixel) {
    const uvec4 first = uvec4(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a);
    const uvec4 second = uvec4(0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);
    uint w[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS / 4; k++) {
        uvec4 words = as_uint(texel(0, 4 * pixel.x + k, pixel.y));
        w[4 * k] = words.x, w[4 * k + 1] = words.y, w[4 * k + 2] = words.z, w[4 * k + 3] = words.w;
    }
    uvec4 abcd = first, efgh = second;
    for (int round = 0; round < ROUNDS; round += WORDS) {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            uint choice = (efgh.x & efgh.y) ^ (~efgh.x & efgh.z);
            uint majority = (abcd.x & abcd.y) ^ (abcd.x & abcd.z) ^ (abcd.y & abcd.z);
            uint one = efgh.w + rotations(efgh.x, 6, 11, 25) + choice + as_uint(constant(round / 4 + i / 4))[i % 4] + w[i];
            uint two = rotations(abcd.x, 2, 13, 22) + majority;
            efgh = uvec4(abcd.w + one, efgh.xyz);
            abcd = uvec4(one + two, abcd.xyz);
            w[i] += mixed(w[(i + 1) % WORDS], 7, 18, 3) + w[(i + 9) % WORDS] + mixed(w[(i + 14) % WORDS], 17, 19, 10);
        }
    }
    output(0, first + abcd);
    output(1, second + efgh);
}

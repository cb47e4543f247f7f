#include <ctm/kernel.h>

kernel void hash(ivec2 pixel) {
    uint seed = (uint)pixel.x * 73856093u ^ (uint)pixel.y * 19349663u, h = seed;
    for (int k = 0; k < 5; k++) {
        h = h * 1664525u + 1013904223u;
        h ^= h >> 13;
        h *= 0x85EBCA6Bu;
        h ^= h << 7;
        h = rotate_left(h, 11);
    }
    output(0, uvec4(h, h >> 16, seed, h % 1000u));
}

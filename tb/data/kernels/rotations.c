#include <ctm/kernel.h>

kernel void rotations(ivec2 pixel) {
    uint a = (uint)pixel.x * 0x9E3779B9u + (uint)pixel.y * 0x7F4A7C15u, n = (uint)pixel.x & 31;
    output(0, uvec4(rotate_left(a, 5), rotate_right(a, 17), rotate_left(a, n), rotate_right(a, n)));
}

#include <ctm/kernel.h>

kernel void bits(ivec2 pixel) {
    uint a = (uint)pixel.x * 0x9E3779B9u + (uint)pixel.y * 0x7F4A7C15u, r = a;
    r = (r >> 1 & 0x55555555u) | (r & 0x55555555u) << 1;
    r = (r >> 2 & 0x33333333u) | (r & 0x33333333u) << 2;
    r = (r >> 4 & 0x0F0F0F0Fu) | (r & 0x0F0F0F0Fu) << 4;
    r = __builtin_bswap32(r);
    output(0, ivec4(bit_count(a), leading_zeros(a), trailing_zeros(a), (int)r));
    uint f = as_uint((float)pixel.x * 1.37f + 0.1f);
    output(1, ivec4((int)a >> (a & 15), (int)(f >> 23 & 255), (int)(f & 0x7FFFFF), (int)((a & -a) ^ (a | (a - 1)))));
}

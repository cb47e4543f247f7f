#include <ctm/kernel.h>

kernel void gcd(ivec2 pixel) {
    uint a = (uint)pixel.x * 6 + 6, b = (uint)pixel.y * 4 + 4, steps = 0;
    uint large = a * 12345679u, quotient = large / b;
    while (b) {
        uint r = a % b;
        a = b;
        b = r;
        steps++;
    }
    output(0, uvec4(a, steps, quotient, large % (a + 1)));
}

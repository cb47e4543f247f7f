#include <ctm/kernel.h>

kernel void collatz(ivec2 pixel) {
    int v = pixel.y * 32 + pixel.x + 1, steps = 0, top = v;
    while (v != 1 && steps < 200) {
        if (v & 1)
            top = max(top, v = 3 * v + 1);
        else
            v >>= 1;
        steps++;
    }
    output(0, ivec4(steps, top, v, 0));
}

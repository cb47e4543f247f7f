/* The Mandelbrot set, as mandelbrot.s: how many steps each pixel remains within |z| < 2.
 *
 * Constant 0: (step, step, left, bottom). A round has four steps. A pixel that is outside counts no more steps, and
 * leaves the loop after the round: its numbers grow, become infinite and then NaN, and are never again below 4. */
#include <ctm/kernel.h>

#define STEPS 256
#define AT_ONCE 4

kernel void mandelbrot(vec2 pixel) {
    vec2 c = pixel * constant(0).xy + constant(0).zw;
    float x = 0, y = 0, square = 0;
    int n = 0;
    for (int round = 0; round < STEPS / AT_ONCE; round++) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            float xx = x * x, yy = y * y;
            square = xx + yy;
            n += square < 4;
            y = (x + x) * y + c.y;
            x = xx + (c.x - yy);
        }
        if (!(square < 4))
            break;
    }
    output(0, (float)min(n, STEPS - 1));
}

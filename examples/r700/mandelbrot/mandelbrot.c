/* The Mandelbrot set, as mandelbrot.s: how many steps each pixel stays within |z| < 2.
 *
 * Constant 0: (step, step, left, bottom). */
#include <ctm/kernel.h>

#define STEPS 256

kernel void mandelbrot(vec2 pixel) {
    vec2 c = pixel * constant(0).xy + constant(0).zw, z = 0;
    int n = 0;
    for (; n < STEPS - 1; n++) {
        float xx = z.x * z.x, yy = z.y * z.y;
        if (xx + yy >= 4)
            break;
        z = vec2(xx + (c.x - yy), (z.x + z.x) * z.y + c.y);
    }
    output(0, (float)n);
}

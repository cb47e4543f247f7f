/* The Mandelbrot set, as mandelbrot.s: how many steps each pixel remains within |z| < 2.
 *
 * Constant 0: (step, step, left, bottom). On R5xx cores each product and its sum are rounded once. */
#include <ctm/kernel.h>

#define STEPS 256

kernel void mandelbrot(vec2 pixel) {
    vec2 c = pixel * constant(0).xy + constant(0).zw;
    float half = c.y / 2, x = 0, y = 0;
    int n = 0;
    for (; n < STEPS - 1; n++) {
        if (x * x + (y * y - 4) >= 0)
            break;
        float next = x * x + (c.x - y * y);
        y = 2 * (x * y + half);
        x = next;
    }
    output(0, (float)n);
}

#include <ctm/kernel.h>

kernel void mandelbrot(vec2 pixel) {
    vec2 c = pixel * vec2(0.09375f, 0.0625f) - vec2(2, 1), z = 0;
    int n = 0;
    for (; n < 64; n++) {
        float xx = z.x * z.x, yy = z.y * z.y;
        if (xx + yy > 4.0f)
            break;
        z = vec2(xx - yy + c.x, 2.0f * z.x * z.y + c.y);
    }
    output(0, vec4(n, z, 1));
}

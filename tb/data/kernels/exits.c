#include <ctm/kernel.h>

/* Paths through nested loops that leave several at once, go on, return and drop the pixel. */
kernel void exits(vec2 pixel) {
    float s = 0, t = 0;
    conditional(0);
    for (float i = 0; i < 6; i += 1) {
        for (float j = 0; j < 8; j += 1) {
            if (i * j + pixel.x > 30)
                continue;
            if (i + j > pixel.y * 0.5f) {
                t += 3;
                break;
            }
            s += i - j * 0.25f;
            if (s > 10)
                goto done;
            if (s < -2 && pixel.x > 5 || t == 9) {
                output(1, vec4(i, j, s, t));
                return;
            }
            t += 1;
        }
        s += 2;
    }
    t *= 2;
    if (texel(0, pixel).x > 0.5f)
        discard();
done:
    conditional(s);
    switch ((int)pixel.x & 3) {
    case 0:
        s = -s;
    case 1:
        t += s;
        break;
    case 2:
        s = texel(0, s, t).y;
    }
    output(0, vec4(s, t, 0, 0));
}

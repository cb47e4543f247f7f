#include <ctm/kernel.h>

kernel void divisions(ivec2 pixel) {
    int a = (int)((uint)pixel.x * 2654435769u), b = (int)((uint)pixel.y * 40503u * 977u) - 20000;
    if (b == 0)
        b = 7;
    uint ua = (uint)a, ub = (uint)b;
    output(0, ivec4(a / b, a % b, (int)(ua / ub), (int)(ua % ub)));
    int sa = (short)a, sb = (signed char)b;
    if (sb == 0)
        sb = 3;
    output(1, ivec4(sa / sb, sa % sb, a / 10, (int)(ua % 7)));
}

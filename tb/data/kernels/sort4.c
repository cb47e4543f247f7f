#include <ctm/kernel.h>

static void exchange(float *a, float *b) {
    float low = min(*a, *b), high = max(*a, *b);
    *a = low;
    *b = high;
}

kernel void sort4(vec2 pixel) {
    vec4 v = texel(0, pixel);
    float a = v.x, b = v.y, c = v.z, d = v.w;
    exchange(&a, &b);
    exchange(&c, &d);
    exchange(&a, &c);
    exchange(&b, &d);
    exchange(&b, &c);
    output(0, vec4(a, b, c, d));
}

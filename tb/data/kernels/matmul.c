#include <ctm/kernel.h>

kernel void matmul(vec2 pixel) {
    vec4 sum = 0;
    for (int k = 0; k < 16; k++)
        sum += texel(0, k, pixel.y).x * texel(1, pixel.x, k);
    output(0, sum);
}

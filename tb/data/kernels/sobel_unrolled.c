#include <ctm/kernel.h>

kernel void sobel_unrolled(vec2 pixel) {
    float p[9];
#pragma unroll
    for (int j = 0; j < 3; j++)
#pragma unroll
        for (int i = 0; i < 3; i++)
            p[3 * j + i] = texel(0, pixel + vec2(i - 1, j - 1)).x;
    float x = p[2] + 2 * p[5] + p[8] - p[0] - 2 * p[3] - p[6];
    float y = p[6] + 2 * p[7] + p[8] - p[0] - 2 * p[1] - p[2];
    output(0, vec4(x, y, sqrt(x * x + y * y), p[4]));
}

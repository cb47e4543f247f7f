/* A Gaussian blur over 5 x 5 pixels of one channel, as blur.s, one fetch for each weight. */
#include <ctm/kernel.h>

static float weight(int distance) { return distance == 0 ? 6.0f / 16 : distance == 1 ? 4.0f / 16 : 1.0f / 16; }

kernel void blur(vec2 pixel) {
    float sum = 0;
#pragma unroll
    for (int j = -2; j <= 2; j++)
#pragma unroll
        for (int i = -2; i <= 2; i++)
            sum += weight(abs(i)) * weight(abs(j)) * texel(0, pixel + vec2(i, j)).x;
    output(0, sum);
}

/* C = A * B, as matmul.s: each pixel computes 4 x 4 numbers of C, rows 4j to 4j+3, columns 4i to 4i+3.
 *
 * Input 0: A, [M, K/4, 4]; input 1: B, [K, N/4, 4]; constant 0: (K/4, 0, 0, 0). */
#include <ctm/kernel.h>

static vec4 row(vec4 a, vec4 b0, vec4 b1, vec4 b2, vec4 b3, vec4 sum) {
    return sum + a.x * b0 + a.y * b1 + a.z * b2 + a.w * b3;
}

kernel void matmul(vec2 pixel) {
    vec4 sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    float j = 4 * pixel.y, k = 0;
    while (k < constant(0).x) {
        vec4 b0 = texel(1, pixel.x, 4 * k), b1 = texel(1, pixel.x, 4 * k + 1);
        vec4 b2 = texel(1, pixel.x, 4 * k + 2), b3 = texel(1, pixel.x, 4 * k + 3);
        sum0 = row(texel(0, k, j), b0, b1, b2, b3, sum0);
        sum1 = row(texel(0, k, j + 1), b0, b1, b2, b3, sum1);
        sum2 = row(texel(0, k, j + 2), b0, b1, b2, b3, sum2);
        sum3 = row(texel(0, k, j + 3), b0, b1, b2, b3, sum3);
        k += 1;
    }
    output(0, sum0);
    output(1, sum1);
    output(2, sum2);
    output(3, sum3);
}

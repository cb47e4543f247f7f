#include <ctm/kernel.h>

/* Private arrays of scalars, vectors and small integers, with computed and known elements. */
kernel void local(vec2 pixel) {
    vec4 v[4];
    unsigned char c[8];
    int n[3][3];
    for (int k = 0; k < 4; k++)
        v[k] = texel(0, pixel.x + k, pixel.y);
    for (int k = 0; k < 8; k++)
        c[k] = (unsigned char)(k * 37 + (int)pixel.y);
    for (int k = 0; k < 9; k++)
        n[k / 3][k % 3] = k * k + (int)pixel.x;
    int i = (int)pixel.x & 3, j = (int)pixel.y % 3;
    v[i] += v[3 - i].wzyx;
    n[j][2] += n[2][j] + n[1][1];
    v[2].y = v[i][j];
    output(0, v[0] + v[i] + v[2] + v[3]);
    output(1, ivec4(n[j][j], c[(int)pixel.x & 7], c[i + 2], n[0][2] + n[1][2] + n[2][2]));
}

#include <ctm/kernel.h>

kernel void prefix(vec2 pixel) {
    float sum = 0, largest = -1;
    int where = 0;
    for (int k = 0; k <= (int)pixel.x; k++) {
        vec4 t = texel(0, k, pixel.y);
        if (t.x == 5)
            continue;
        sum += t.x;
        if (t.y > largest) {
            largest = t.y;
            where = k;
        }
        if (sum > 60)
            break;
    }
    output(0, vec4(sum, largest, where, 1));
}

#include <ctm/kernel.h>

kernel void scatter(ivec2 pixel) {
    int index = pixel.y * 16 + pixel.x;
    if ((index & 7) == 3)
        discard();
    write((index * 5 + 3) % 256, texel(0, pixel).x);
    if (index & 1) {
        write(256 + index, index * 3);
        conditional(0.5f * index);
    } else {
        conditional(0);
    }
    output(1, texel(0, pixel).wzyx);
}

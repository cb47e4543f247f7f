#include <ctm/kernel.h>

kernel void scatter(ivec2 pixel) {
    int place = pixel.y * 16 + pixel.x;
    if ((place & 7) == 3)
        discard();
    write((place * 5 + 3) % 256, texel(0, pixel).x);
    if (place & 1) {
        write(256 + place, place * 3);
        conditional(0.5f * place);
    } else {
        conditional(0);
    }
    output(1, texel(0, pixel).wzyx);
}

#include <ctm/kernel.h>

kernel void saxpy(vec2 pixel) { output(0, constant(0).x * texel(0, pixel) + texel(1, pixel)); }

#include <ctm/kernel.h>

kernel void functions(vec2 pixel) {
    float x = (pixel.x - 15.5f) * 0.41f, y = (pixel.y + 1) * 0.173f;
    output(0, vec4(sin(x), cos(x), exp2(x * 0.5f), log2(y)));
    output(1, vec4(sqrt(y), inversesqrt(y), x / y, fract(x)));
    output(2, vec4(normalize(vec3(x, y, 1)), length(vec2(x, y))));
    output(3, vec4(pow(y, 0.3f), smoothstep(-2, 2, x), mix(x, y, 0.25f), dot(vec2(x, y), vec2(y, 2))));
}

#include <ctm/kernel.h>

kernel void nbody(vec2 pixel) {
    vec4 me = texel(0, pixel.x, 0);
    vec3 force = 0;
    for (float k = 0; k < constant(0).z; k += 1) {
        vec4 other = texel(0, k, 0);
        vec3 d = other.xyz - me.xyz;
        float i = inversesqrt(d.x * d.x + d.y * d.y + d.z * d.z + constant(0).x);
        force += d * (other.w * i * i * i);
    }
    output(0, vec4(me.xyz + force * constant(0).y, force.x));
}

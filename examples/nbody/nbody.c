/* One step of n bodies that attract each other, as nbody.s.
 *
 * Input 0: positions (x, y, z, mass); input 1: velocities; constant 0: (length of the step, softening, width, height). */
#include <ctm/kernel.h>

kernel void nbody(vec2 pixel) {
    float step = constant(0).x, softening = constant(0).y;
    vec4 me = texel(0, pixel);
    vec3 acceleration = 0, velocity = texel(1, pixel).xyz;
    for (float j = 0; j < constant(0).w; j += 1)
        for (float i = 0; i < constant(0).z; i += 1) {
            vec4 body = texel(0, i, j);
            vec3 offset = body.xyz - me.xyz;
            float root = inversesqrt(dot(offset, offset) + softening * softening);
            acceleration += offset * (body.w * root * (root * root));
        }
    velocity += acceleration * step;
    output(1, vec4(velocity, 0));
    output(0, vec4(me.xyz + velocity * step, me.w));
}

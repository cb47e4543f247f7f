"""One step of n bodies that attract each other, as nbody.s."""

from ctm import kernel
from ctm.language import Image, dot, inversesqrt, texel, vec2, vec3, vec4


@kernel
def nbody(
    pixel: vec2, positions: Image, velocities: Image, step: float, softening: float, width: float, height: float
) -> tuple[vec4, vec4]:
    """A body's position (x, y, z, mass) and its velocity after a step."""
    me = texel(positions, pixel)
    velocity, acceleration = texel(velocities, pixel).xyz, vec3(0)
    j = 0.0
    while j < height:
        i = 0.0
        while i < width:
            body = texel(positions, i, j)
            offset = body.xyz - me.xyz
            root = inversesqrt(dot(offset, offset) + softening * softening)
            acceleration += offset * (body.w * root * (root * root))
            i += 1
        j += 1
    velocity += acceleration * step
    return vec4(me.xyz + velocity * step, me.w), vec4(velocity, 0)

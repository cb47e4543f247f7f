"""A Julia set in colours: the picture at the top of the README."""

from ctm import kernel
from ctm.language import cos, dot, log2, vec2, vec4


@kernel
def julia(pixel: vec2) -> vec4:
    """How fast z^2 + c leaves a circle, as a colour."""
    z = (pixel - vec2(319.5, 119.5)) / 140.0
    steps = 0.0
    for _ in range(160):
        if dot(z, z) > 256:
            break
        z = vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + vec2(-0.79, 0.156)
        steps += 1
    if dot(z, z) <= 256:
        return vec4(0.02, 0.02, 0.06, 1)
    smooth = steps - log2(log2(dot(z, z)))
    t = 0.55 * log2(smooth + 6)
    return vec4(0.5 - 0.5 * cos(3 * t), 0.5 - 0.45 * cos(3 * t - 0.9), 0.5 - 0.4 * cos(3 * t - 1.9), 1)

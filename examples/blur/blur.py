"""A Gaussian blur over 5 x 5 pixels of one channel, as blur.s, one fetch for each weight."""

from ctm import kernel
from ctm.language import Image, texel, unroll, vec2

WEIGHTS = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


@kernel
def blur(pixel: vec2, picture: Image) -> float:
    """The weighted sum of the pixels around one."""
    total = 0.0
    for j in unroll(range(5)):
        for i in unroll(range(5)):
            total += WEIGHTS[i] * WEIGHTS[j] * texel(picture, pixel + vec2(i - 2, j - 2)).x
    return total

"""C = A * B, as matmul.s: each pixel computes 4 x 4 numbers of C, rows 4j to 4j+3, columns 4i to 4i+3."""

from ctm import kernel
from ctm.language import Image, texel, vec2, vec4


def row(left: vec4, b0: vec4, b1: vec4, b2: vec4, b3: vec4, total: vec4) -> vec4:
    """Four numbers of a row of A times four rows of B, and a sum."""
    return total + left.x * b0 + left.y * b1 + left.z * b2 + left.w * b3


@kernel
def matmul(pixel: vec2, a: Image, b: Image, quarters: float) -> tuple[vec4, vec4, vec4, vec4]:
    """Four rows of C, of A [M, K/4, 4] and B [K, N/4, 4]; `quarters` is K/4."""
    sum0 = sum1 = sum2 = sum3 = vec4(0)
    j = 4 * pixel.y
    k = 0.0
    while k < quarters:
        b0, b1 = texel(b, pixel.x, 4 * k), texel(b, pixel.x, 4 * k + 1)
        b2, b3 = texel(b, pixel.x, 4 * k + 2), texel(b, pixel.x, 4 * k + 3)
        sum0 = row(texel(a, k, j), b0, b1, b2, b3, sum0)
        sum1 = row(texel(a, k, j + 1), b0, b1, b2, b3, sum1)
        sum2 = row(texel(a, k, j + 2), b0, b1, b2, b3, sum2)
        sum3 = row(texel(a, k, j + 3), b0, b1, b2, b3, sum3)
        k += 1
    return sum0, sum1, sum2, sum3

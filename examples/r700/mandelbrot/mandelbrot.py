"""The Mandelbrot set, as mandelbrot.s: how many steps each pixel stays within |z| < 2."""

from ctm import kernel
from ctm.language import vec2, vec4

STEPS = 256


@kernel
def mandelbrot(pixel: vec2, view: vec4) -> float:
    """The number of steps; `view` is (step, step, left, bottom)."""
    c = pixel * view.xy + view.zw
    z = vec2(0)
    count = 0
    for _ in range(STEPS - 1):
        xx, yy = z.x * z.x, z.y * z.y
        if xx + yy >= 4:
            break
        z = vec2(xx + (c.x - yy), (z.x + z.x) * z.y + c.y)
        count += 1
    return float(count)

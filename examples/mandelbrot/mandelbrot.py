"""The Mandelbrot set, as mandelbrot.s: how many steps each pixel remains within |z| < 2."""

from ctm import kernel
from ctm.language import vec2, vec4

STEPS = 256


@kernel
def mandelbrot(pixel: vec2, view: vec4) -> float:
    """The number of steps; `view` is (step, step, left, bottom).

    On R5xx cores each product and its sum are rounded once, as in mandelbrot.s.
    """
    c = pixel * view.xy + view.zw
    half = c.y / 2
    x = y = 0.0
    count = 0
    for _ in range(STEPS - 1):
        if x * x + (y * y - 4) >= 0:
            break
        x, y = x * x + (c.x - y * y), 2 * (x * y + half)
        count += 1
    return float(count)

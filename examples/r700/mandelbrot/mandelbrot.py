"""The Mandelbrot set, as mandelbrot.s: how many steps each pixel remains within |z| < 2."""

from ctm import kernel
from ctm.language import unroll, vec2, vec4

STEPS = 256
AT_ONCE = 4


@kernel
def mandelbrot(pixel: vec2, view: vec4) -> float:
    """The number of steps; `view` is (step, step, left, bottom).

    A round has four steps; a pixel that leaves is not counted from then on, and leaves the loop after the round.
    """
    c = pixel * view.xy + view.zw
    x = y = square = 0.0
    count = 0
    for _ in range(STEPS // AT_ONCE):
        for _ in unroll(range(AT_ONCE)):
            xx, yy = x * x, y * y
            square = xx + yy
            count += 1 if square < 4 else 0
            x, y = xx + (c.x - yy), (x + x) * y + c.y
        if not square < 4:
            break
    return float(min(count, STEPS - 1))

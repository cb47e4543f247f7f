"""Whether a page can be read: its texts stand out from their background, and none is wider than the page."""

from typing import Any

LEAST_CONTRAST = 4.5
"""Of a text and its background, as the Web Content Accessibility Guidelines want it (level AA)."""
_SCRIPT = """least => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return [red / 255, green / 255, blue / 255, alpha / 255];
  };
  const over = (above, below) => [0, 1, 2].map((each) => above[each] * above[3] + below[each] * (1 - above[3]));
  const linear = (each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4;
  const light = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const backdrop = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      layers.push(rgba(getComputedStyle(each).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reverse().reduce((below, above) => over(above, below), [1, 1, 1]);
  };
  const scrolls = (element) => {
    for (let each = element; each; each = each.parentElement) {
      if (getComputedStyle(each).overflowX !== "visible") return true;
    }
    return false;
  };
  const width = document.documentElement.clientWidth, faint = [], wide = [];
  for (const element of document.querySelectorAll("body, body *")) {
    if (element.closest("script, style, .hoverlayer, .modebar")) continue;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (!box.width || !box.height || style.visibility === "hidden") continue;
    const text = [...element.childNodes].filter((each) => each.nodeType === 3).map((each) => each.data).join("").trim();
    if (!text) continue;
    if (box.right > width + 1 && !scrolls(element)) wide.push([text, box.right]);
    const back = backdrop(element), colour = over(rgba(element.closest("svg") ? style.fill : style.color), back);
    const [low, high] = [light(back), light(colour)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < least) faint.push([text, +contrast.toFixed(2)]);
  }
  return { faint, wide, over: Math.max(0, document.documentElement.scrollWidth - width) };
}"""


def illegible(page: Any, least: float = LEAST_CONTRAST) -> dict[str, Any]:
    """What of a page cannot be read as it is shown at the moment; empty if all of it can.

    `faint` are texts with their contrast, `wide` those that reach over the page's edge, `over` the pixels that the page
    is wider than the screen.
    """
    found: dict[str, Any] = page.evaluate(_SCRIPT, least)
    return {name: value for name, value in found.items() if value}

"""What all pages have: their looks, light and dark, on a wide screen and on a telephone; charts that fit them."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1f2328; --soft: #5f6773; --edge: #d8dee4; --hot: #f59e0b;
        --bad: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --text: #e6edf3; --soft: #9aa4af; --edge: #30363d; --hot: #b45309; --bad: #ff8f85; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; background: var(--back); color: var(--text); margin: 0 auto;
       max-width: 84em; padding: 1em; overflow-wrap: break-word; }
h1 { font-size: 1.5em; margin: 0; } h2 { font-size: 1.15em; margin: 2em 0 0.5em; border-bottom: 1px solid var(--edge); }
h3 { font-size: 1em; margin: 1em 0 0.3em; } p { margin: 0.3em 0; } .soft { color: var(--soft); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26em, 100%), 1fr)); gap: 1.5em; }
.columns > * { min-width: 0; } .columns > .picture { max-width: 36em; }
.wide, .listing { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875em; }
td, th { text-align: left; vertical-align: baseline; padding: 0.1em 0.8em 0.1em 0; } th { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { overflow-x: auto; }
/* Texts of charts are as readable as those of the page; those below the pointer have colours of their own. */
.plotly-graph-div text:not(.hoverlayer text) { fill: var(--soft) !important; }
"""
SCRIPT = """
// Charts that were drawn before the page had its width; pictures, which have the height of what they show.
const LOWEST = 120, HIGHEST = 480;

function fit(chart) {
  const aspect = chart.layout?.meta?.aspect;
  if (!aspect) return;
  const { _size: inner, height } = chart._fullLayout;
  const wanted = Math.round(Math.min(HIGHEST, Math.max(LOWEST, aspect * inner.w)) + height - inner.h);
  if (wanted === height) return;
  chart.style.height = `${wanted}px`;
  Plotly.relayout(chart, { height: wanted });
}

async function resize() {
  for (const chart of document.querySelectorAll(".plotly-graph-div")) {
    await Plotly.Plots.resize(chart);
    fit(chart);
  }
}

addEventListener("load", resize);
addEventListener("resize", resize);
"""
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style>{library}
<h1>{title}</h1>
{body}
{script}
</html>
"""


def framed(title: str, body: str, *, style: str = "", library: str = "", script: str = "") -> str:
    """A page of this body. `library` draws charts, if it has some; `style` and `script` are what else it needs."""
    return _PAGE.format(
        title=escape(title), body=body, style=STYLE + style, library=f"<script>{library}</script>" if library else "",
        script=f"<script>{SCRIPT}{script}</script>" if library else "",
    )  # fmt: skip

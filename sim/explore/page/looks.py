"""How the page looks, in light and dark, on a wide screen and on a telephone; and colours of lines."""

from typing import Final

_HUES = (210, 35, 140, 330, 265, 80, 180, 10, 300, 55)
"""Neighbours differ, also under red-green colour blindness: their order alternates cold and warm."""
COLOURS = len(_HUES)

_LINES = "\n".join(f".ctm-{number} {{ --hue: {hue}; }}" for number, hue in enumerate(_HUES))
STYLE = f"""
:root {{ --soft: #57606a; --edge: #d0d7de; --bad: #b42318; --light: 45%; --tint: 0.12; --chosen: 0.24; }}
body {{ background: #fff; }}
body.body--dark {{ --soft: #9aa4af; --edge: #3d444d; --bad: #ff8f85; --light: 60%; --tint: 0.13;
                   --chosen: 0.3; background: #0d1117; }}
.nicegui-content {{ padding: 0.75rem; gap: 0.75rem; max-width: 110rem; margin: 0 auto; }}
.ctm-bar {{ display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; width: 100%; }}
.ctm-bar h1 {{ font-size: 1.15rem; font-weight: 600; line-height: 1.4; margin: 0; }}
.ctm-bar .ctm-example {{ min-width: min(17rem, 100%); flex: 0 1 19rem; }}
.ctm-state {{ color: var(--soft); flex: 1 1 14rem; min-width: 0; display: flex; align-items: center; gap: 0.5rem; }}
.ctm-columns {{ display: grid; width: 100%; gap: 0.75rem; align-items: start;
                grid-template-columns: minmax(0, 5fr) minmax(0, 4fr) minmax(0, 4fr); }}
.ctm-told {{ grid-column: 1 / -1; }}
.ctm-told:empty {{ display: none; }}
.ctm-side {{ display: flex; flex-direction: column; gap: 0.75rem; min-width: 0; }}
@media (max-width: 64rem) {{
  .ctm-columns {{ grid-template-columns: minmax(0, 1fr); }}
  .ctm-columns > .ctm-told {{ order: -2; }} .ctm-columns > .ctm-side {{ order: -1; }}
  .ctm-columns > .ctm-source {{ order: -3; }}
}}
.ctm-panel {{ border: 1px solid var(--edge); border-radius: 6px; min-width: 0; overflow: hidden; width: 100%; }}
.ctm-panel > .ctm-title {{ padding: 0.35rem 0.75rem; border-bottom: 1px solid var(--edge); font-weight: 600;
                           display: flex; gap: 0.75rem; justify-content: space-between; flex-wrap: wrap; }}
.ctm-title .ctm-soft {{ font-weight: 400; }}
.ctm-body {{ padding: 0.5rem 0.75rem; display: flex; flex-direction: column; gap: 0.35rem; min-width: 0; }}
.ctm-soft {{ color: var(--soft); }}
.ctm-mono {{ font: 14px ui-monospace, monospace; }}
.ctm-text {{ overflow-wrap: anywhere; }}
.ctm-bad {{ color: var(--bad); overflow-wrap: anywhere; white-space: pre-wrap; cursor: default; }}
.ctm-bad.ctm-link {{ cursor: pointer; }}
.ctm-editor, .ctm-listing {{ height: 30rem; width: 100%; font-size: 13px; }}
@media (max-width: 64rem) {{ .ctm-editor {{ height: 22rem; }} .ctm-listing {{ height: 16rem; }} }}
.ctm-job {{ height: 16rem; width: 100%; font-size: 13px; }}
.cm-editor {{ height: 100%; }}
.cm-editor.cm-focused {{ outline: none; }}
.ctm-panel:focus-within {{ border-color: var(--soft); }}
.cm-line[data-line] {{ cursor: pointer; }}
.ctm-editor .cm-gutters, .ctm-job .cm-gutters {{ color: var(--soft); background: transparent; }}
.ctm-listing .cm-gutters {{ display: none; }}
.ctm-listing .cm-activeLine:not(.ctm-own) {{ background: transparent; }}
.cm-editor .ctm-own {{ background: hsl(var(--hue) 75% var(--light) / var(--tint)) !important;
            box-shadow: inset 3px 0 hsl(var(--hue) 75% var(--light)); }}
.cm-editor .ctm-own.ctm-chosen {{ background: hsl(var(--hue) 75% var(--light) / var(--chosen)) !important;
                                  outline: 1px solid hsl(var(--hue) 75% var(--light)); outline-offset: -1px; }}
.cm-editor .ctm-error {{ background: color-mix(in srgb, var(--bad) 18%, transparent) !important;
                         box-shadow: inset 3px 0 var(--bad); }}
.ctm-at {{ text-decoration: underline wavy var(--bad); }}
.ctm-share {{ color: var(--soft); font-size: 0.85em; padding-left: 1.5em; }}
.ctm-pictures {{ display: grid; gap: 0.75rem;
                 grid-template-columns: repeat(auto-fill, minmax(min(11rem, 100%), 1fr)); }}
.ctm-pictures:empty {{ display: none; }}
.ctm-pictures > * {{ min-width: 0; }}
.ctm-picture {{ width: 100%; max-width: 20rem; }}
.ctm-picture img {{ image-rendering: pixelated; }}
.ctm-table .q-table td, .ctm-table .q-table th {{ padding: 0.1rem 0.5rem; height: auto; }}
.ctm-code .q-table td:last-child {{ font-family: ui-monospace, monospace; white-space: pre; }}
.ctm-table {{ overflow-x: auto; background: transparent !important; }}
{_LINES}
"""

CLICKED = """(event) => {
  const line = event.target.closest('[data-line]');
  const number = event.target.closest('.cm-lineNumbers .cm-gutterElement');
  if (line) emit(parseInt(line.dataset.line));
  else if (number && event.currentTarget.matches('.ctm-editor')) emit(parseInt(number.textContent));
}"""
"""A click in an editor, as the line of the source that it is at."""
WATCH_DARKNESS = """
const dark = matchMedia('(prefers-color-scheme: dark)');
const tell = () => emitEvent('darkness', dark.matches);
dark.addEventListener('change', tell);
tell();
"""
"""Says whether the page is dark, now and whenever that changes."""
LIGHT: Final = "eclipse"
DARK: Final = "githubDark"


def colour(index: int) -> str:
    """The class of the colour of a source line; `index` counts the lines with instructions."""
    return f"ctm-{index % COLOURS}"

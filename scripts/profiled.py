"""Where the instructions of a program go, as HTML: its source with what each line issued."""

from html import escape

from ctm.examples.catalogue import job
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.engines.seen import Watching
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.sim.profile.advice import advice
from ctm.sim.profile.profile import profiles
from ctm.sim.profile.source import source_html
from ctm.sim.runtime.device import WATCHDOG
from scripts.stages import REFERENCE


def profiled(name: str) -> str:
    """Of an example, run by the golden model, which counts for each line what the hardware does."""
    loaded = load_job(job(name))
    config = PRESETS[DEFAULT_PRESETS["r700" if name.startswith("r700/") else "r5xx"]]
    execution = Execution(loaded, engine=REFERENCE, config=config, watchdog=WATCHDOG, watch=Watching())
    execution.run()
    (profile,) = profiles(execution.device.seen(), execution.programs())
    whole = profile.figures
    sentences = "".join(f"<li>{escape(text)}</li>" for text in advice(profile))
    return (
        f"<h2>Where the instructions of {escape(name)} go</h2><p>{whole.issues:,} instructions issued; "
        f"{whole.efficiency:.0%} of the lanes that are covered work.</p><ul>{sentences}</ul>"
        '<p class="soft">In front of each line stands its share of the instructions issued. A click on such a line '
        f"shows its instructions.</p>{source_html(profile)}"
    )

"""Where the instructions of a program go, as HTML: its source with what each line issued."""

from ctm.examples.catalogue import job
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.engines.seen import Watching
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.sim.profile.profile import profiles
from ctm.sim.profile.section import section_html
from ctm.sim.runtime.device import WATCHDOG
from scripts.stages import REFERENCE


def profiled(name: str) -> str:
    """Of an example, run by the golden model, which counts for each line what the hardware does."""
    loaded = load_job(job(name))
    config = PRESETS[DEFAULT_PRESETS["r700" if name.startswith("r700/") else "r5xx"]]
    execution = Execution(loaded, engine=REFERENCE, config=config, watchdog=WATCHDOG, watch=Watching())
    execution.run()
    (profile,) = profiles(execution.device.seen(), execution.programs())
    return section_html(f"Where the instructions of {name} go", profile)

"""A run to show: saxpy on the smallest preset."""

from ctm.examples.catalogue import job
from ctm.sim.engines.seen import Watching
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.sim.report.page.page import Ran
from ctm.tb.lib.machines import BEATS


def ran(engine: str) -> Ran:
    """What a page needs of it."""
    execution = Execution(
        load_job(job("saxpy")), engine=engine, config=BEATS, watchdog=0, watch=Watching(most_events=20_000)
    )
    result = execution.run()
    return Ran(
        name="a <run>", command="ctm run 'a b.toml'", engine=engine, config=BEATS, report=result.report,
        outputs={"output 0": result.outputs[0]}, programs=execution.programs(), seen=execution.device.seen(),
    )  # fmt: skip

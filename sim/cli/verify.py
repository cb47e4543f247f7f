"""``ctm verify``: names the long regression, which a checkout has and a package has not."""

from importlib.util import find_spec

from ctm.sim.cli.outcome import BadInput, Outcome

_MODULE = "ctm.tb.verify"


def verify() -> None:
    """Print how to run the random regression of the hardware and compilers; see docs/verify.md."""
    outcome = Outcome(json_wanted=False)
    with outcome.reported():
        try:
            is_there = find_spec(_MODULE) is not None
        except ModuleNotFoundError:
            is_there = False
        if not is_there:
            raise BadInput(f"the installed package has no regression: run python -m {_MODULE} in a checkout")
        outcome.say(f"python -m {_MODULE} runs the regression; --help has its options")

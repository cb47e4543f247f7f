"""``python -m ctm.tb.mutation``: runs a unit's mutants and tells which no test finds.

The status is 0 if all survivors are in the table, 1 if one is not, 2 if nothing could be run.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ctm.tb.mutation.mutants import Mutant, Source, files_of, of_name, sampled
from ctm.tb.mutation.runner import BaselineError, Outcome, outcomes
from ctm.tb.mutation.survivors import accepted, draft, read
from ctm.tb.mutation.units import suite_of


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its status."""
    options = _options(arguments)
    try:
        mutants = [mutant for unit in options.units for mutant in _mutants(unit)]
        tests = options.tests or _tests(mutants)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.sample is not None:
        mutants = sampled(mutants, options.sample, options.seed)
    if options.list:
        print("\n".join(mutant.name for mutant in mutants))
        return 0
    try:
        return _run(mutants, tests, options)
    except (BaselineError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 2


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ctm.tb.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("units", nargs="+", help="a folder, a file, or the name of a mutant")
    parser.add_argument("--sample", type=int, help="run as many mutants, chosen at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--table", type=Path, help="another table of accepted survivors")
    parser.add_argument("--list", action="store_true", help="print the mutants' names and run none")
    parser.add_argument("--draft", action="store_true", help="print survivors as rows of the table, too")
    parser.add_argument("--all", action="store_true", help="print what became of every mutant")
    # What begins with a dash is pytest's, too.
    parser.add_argument("--tests", nargs=argparse.REMAINDER, help="arguments of pytest, instead of the unit's tests")
    return parser.parse_args(arguments)


def _mutants(unit: str) -> list[Mutant]:
    if ".py:" in unit:
        return [of_name(unit)[1]]
    if not Path(unit).exists():
        raise ValueError(f"{unit} is not there")
    found = [mutant for path in files_of(Path(unit)) for mutant in Source(path).mutants]
    if not found:
        raise ValueError(f"{unit} has no mutants")
    return found


def _tests(mutants: list[Mutant]) -> list[str]:
    """The tests of all files with mutants."""
    paths = dict.fromkeys(mutant.path for mutant in mutants)
    return list(dict.fromkeys(argument for path in paths for argument in suite_of(path)))


def _run(mutants: list[Mutant], tests: list[str], options: argparse.Namespace) -> int:
    rows = read(options.table) if options.table else read()
    found: dict[Mutant, Outcome] = {}
    start = time.monotonic()
    for mutant, outcome in outcomes(mutants, tests, options.jobs):
        found[mutant] = outcome
        row = accepted(mutant, rows)
        if options.all or outcome.survives and row is None:
            print(f"{outcome.value}: {mutant.name}\n    {mutant.line_text}", flush=True)
            if options.draft and outcome.survives:
                print(draft(mutant))
        elif row and not outcome.survives:
            print(f"found now, and still in the table: {mutant.name}", flush=True)
    survivors = [mutant for mutant, outcome in found.items() if outcome.survives]
    unknown = [mutant for mutant in survivors if accepted(mutant, rows) is None]
    known = len(survivors) - len(unknown)
    killed = len(found) - len(survivors)
    score = 100 * killed / max(len(found) - known, 1)
    print(
        f"{len(found)} mutants in {time.monotonic() - start:.0f} s: {killed} killed, {known} accepted, "
        f"{len(unknown)} survive; {score:.1f} % of those that are not accepted are killed"
    )
    return int(bool(unknown))

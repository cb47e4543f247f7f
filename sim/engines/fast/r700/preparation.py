"""An R700 launch, ready to be compiled and run."""

from functools import lru_cache
from typing import Any

from ctm.sim.engines.fast.choice import estimate
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.program import (
    FallBackError,
    Prepared,
    check_independence,
    check_memory,
    final_test,
    prepared,
)
from ctm.sim.engines.fast.r700.draws.threads import Threaded
from ctm.sim.engines.fast.r700.graph import Graph, TooManyPathsError
from ctm.sim.engines.fast.r700.reach import reads_memory, writes_memory, writes_scratch
from ctm.sim.engines.fast.r700.translation import Drawn, Source, translate
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.golden.r700.execution import UNITS
from ctm.sim.golden.r700.program import Code, Program


def prepare(launch: Launch[Any], host: Host) -> Prepared:
    """What is compiled of a launch for a host.

    Raises
    ------
    FallBackError
        It is for the golden model.
    """
    check_independence(launch)
    graph = _graph_of(launch, host)
    _check_memory(launch, graph)
    return _prepared(launch, host, graph, in_order=writes_memory(graph) or writes_scratch(graph))


def prepare_pixels(launch: Launch[Any], host: Host, drawn: Drawn) -> Prepared:
    """What is compiled of a draw's pixel program; errors as `prepare`.

    Vectors run one after the other, so that what they test and store is in the order of primitives.
    """
    check_independence(launch)
    graph = _graph_of(launch, host)
    if reads_memory(graph, scratch=False) or writes_memory(graph) or writes_scratch(graph):
        raise FallBackError("the pixel program of a draw reads or writes memory")
    return _prepared(launch, host, graph, in_order=True, drawn=drawn)


def prepare_threads(launch: ThreadLaunch, host: Host, threaded: Threaded) -> Prepared:
    """What is compiled of a draw's program in front of the raster; errors as `prepare`."""
    check_memory(launch)
    graph = _graph_of(launch, host)
    if any(reads_memory(graph, scratch=scratch) for scratch in (False, True)) or writes_scratch(graph):
        raise FallBackError("a program in front of the raster reads or writes memory by numbers of pixels")
    return _prepared(launch, host, graph, in_order=False, threaded=threaded)


def _prepared(
    launch: Launch[Any],
    host: Host,
    graph: Graph,
    *,
    in_order: bool,
    drawn: Drawn | None = None,
    threaded: Threaded | None = None,
) -> Prepared:
    program: Program = launch.program
    source = Source(
        graph=graph,
        information=program.information,
        outputs=program.outputs,
        output_mask=launch.output_mask,
        test=None if threaded is not None else final_test(launch),
        draw=drawn,
        threads=threaded,
    )
    return prepared(
        launch,
        host,
        lambda frame: translate(source, frame),
        width=launch.lanes,
        rows=True,
        units=UNITS,
        in_order=in_order,
        others=drawn or threaded,
        is_tested=None if drawn is None and threaded is None else drawn is not None,
        linear=threaded is not None,
    )


def _graph_of(launch: Launch[Any], host: Host) -> Graph:
    """The graph of a launch's program, if LLVM is done with it before long."""
    program: Program = launch.program
    if estimate.seconds(program.image, -(-launch.lanes // host.register)) > estimate.LONGEST:
        raise FallBackError("LLVM would take too long for a program of this size with such wavefronts")
    return _graph(program.code, program.information.start, program.information.stack_size)


@lru_cache(maxsize=64)
def _graph(code: Code, start: int, entries: int) -> Graph:
    """The graph of a program's code; programs that start again and again are looked at once."""
    try:
        return Graph(code, start=start, entries=entries)
    except TooManyPathsError:
        raise FallBackError("calls and loops lead to its code by too many paths") from None


def _check_memory(launch: Launch[Any], graph: Graph) -> None:
    """Reject programs that may not be run twice: those that read memory which they write."""
    if reads_memory(graph, scratch=False) and writes_memory(graph):
        raise FallBackError("it reads memory that it writes")
    if reads_memory(graph, scratch=True) and writes_scratch(graph) and (launch.watchdog or graph.may_fault):
        raise FallBackError("it reads its scratch, and may have to be run twice")

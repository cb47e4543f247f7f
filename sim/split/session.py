"""Split runs from Python: jobs and kernels in tiles, at workers that stay until the end."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS, MachineConfig
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.jobs.arrays import check_name
from ctm.sim.jobs.execution import check_kinds
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.kernels import PythonKernel
from ctm.sim.kernels.matching import matched
from ctm.sim.kernels.workspace import Results, result_of
from ctm.sim.runtime.device import WATCHDOG
from ctm.sim.split.kernel import job_of
from ctm.sim.split.loading import LARGEST, load_split_job
from ctm.sim.split.plan import plan_launches
from ctm.sim.split.planes import is_store
from ctm.sim.split.run import SplitRun, Tally
from ctm.sim.split.support import check_support
from ctm.sim.split.tile import Settings
from ctm.sim.split.where import Where


class Split:
    """Many devices for one domain: each does some of its tiles. To be used as a context, at whose end they go.

    Parameters
    ----------
    count
        Tiles of a domain; there are more where these would be larger than a domain of the machine.
    engine, config, watchdog, max_cycles
        As of a `Device`, for each tile. Without a configuration it is the default one of the program's cores.
    workers
        Processes of this computer, as many as processors if nothing is said; 0: this one.
    scheduler
        The address of a scheduler of Dask, instead of workers of this computer.
    certificates
        Files of TLS for a scheduler: the authority's certificate, the client's own, and its key.
    """

    def __init__(
        self,
        count: int,
        *,
        engine: str = "auto",
        config: MachineConfig | None = None,
        watchdog: int = WATCHDOG,
        max_cycles: int | None = None,
        workers: int | None = None,
        scheduler: str | None = None,
        certificates: tuple[str | None, str | None, str | None] = (None, None, None),
    ) -> None:
        if count < 1:
            raise ValueError(f"a domain has at least one tile, not {count}")
        if workers is not None and scheduler is not None:
            raise ValueError("workers are of this computer, a scheduler is of a cluster: not both")
        self._count, self._engine, self._config = count, engine, config
        self._watchdog, self._max_cycles = watchdog, max_cycles
        self._where = Where(workers=workers, scheduler=scheduler, certificates=certificates)
        self._stack = ExitStack()
        self.tally = Tally()
        """What the tiles of the last run counted."""

    def __enter__(self) -> Self:
        self._where.require()
        self._client = self._stack.enter_context(self._where.client(self._engine))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, job: Path, folder: Path | None = None) -> Tally:
        """Run a job file, whose outputs go beside it or into a folder; what its tiles counted.

        Raises
        ------
        SplitError, JobError, KernelError
            It cannot be split, or is wrong.
        MachineError, CycleLimitError
            A tile failed.
        SweepError
            The cluster has gone away.
        OSError
            An output cannot be written.
        """
        self._run(load_split_job(job, folder))
        return self.tally

    def call(
        self,
        kernel: PythonKernel[Any, Any],
        size: tuple[int, int],
        /,
        *arguments: Any,
        outputs: Sequence[Path] | None = None,
        isa: str | None = None,
        **named: Any,
    ) -> Results | None:
        """Run a kernel over a domain of a width and a height, each up to 2^24; the results are those of a `Device`.

        It is compiled for the cores of the configuration, else for `isa`, R700's if nothing is said.

        Images may be mapped files and Zarr arrays, of which only what tiles look up is read. With `outputs`, a name for
        each result that ends in .npy or .zarr, results go there as a job's outputs, and None is given.

        Raises
        ------
        TypeError, ValueError
            An argument does not fit.
        SplitError, KernelError, MachineError, CycleLimitError, SweepError, OSError
            As of `run`.
        """
        width, height = size
        if not all(1 <= side <= LARGEST for side in size):
            raise ValueError(f"a domain is [width, height], each 1 to {LARGEST:,}, not {list(size)}")
        node, signature = kernel.definition.node, kernel.signature
        wanted = DEFAULT_TARGET if isa is None else isa
        own = wanted if self._config is None else self._config.array.instruction_set
        if isa not in (None, own):
            raise ValueError(f"the configuration has cores of {own}, not of {isa}")
        values = matched(node.name, node.args.args[0].arg, list(signature.parameters), arguments, named)
        files: dict[int | str, Path] = dict(enumerate(outputs or ()))
        if outputs is not None and len(files) != len(signature.results):
            raise ValueError(f"{node.name}() has {len(signature.results)} results, and {len(files)} outputs are named")
        job = job_of(kernel, (width, height), values, own, files)
        for section, _, _ in job.outputs:
            path = files.get(section.index)
            if path is not None and not is_store(path):
                check_name(path, section.format)
        run = self._run(job)
        if outputs is not None:
            return None
        are_floats = TARGETS[own].whole_floats
        found = tuple(
            result_of(run.result(index), kind, are_floats=are_floats) for index, kind in enumerate(signature.results)
        )
        return found if signature.is_tuple else found[0]

    def _run(self, job: LoadedJob) -> SplitRun:
        config = self._config or PRESETS[DEFAULT_PRESETS[job.kinds[0]]]
        settings = Settings(engine=self._engine, config=config, watchdog=self._watchdog, max_cycles=self._max_cycles)
        check_support(job, self._engine)
        check_kinds(job, config)
        job, plans = plan_launches(job, self._count)
        with SplitRun(job, plans, settings, lambda _: None) as run:
            run.begin()
            with self._where.doing(self._client, job, settings) as doing:
                run.run(doing)
        self.tally = run.tally
        return run

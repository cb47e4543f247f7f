"""`@kernel`: a function of a pixel that runs on a device, and still is that function."""

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any, Generic, ParamSpec, TypeVar

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS, MachineConfig
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.assembler import disassemble
from ctm.sim.compiler.error import Diagnostic, KernelError, Location
from ctm.sim.compiler.python import (
    Definition,
    Parameter,
    Problem,
    Signature,
    Translation,
    definition,
    kernel_parameters,
    translate_definition,
)
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.elf import Executable
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.seen import Watching
from ctm.sim.kernels.arguments import bound
from ctm.sim.kernels.compilation import compiled
from ctm.sim.kernels.interpretation import interpreted
from ctm.sim.kernels.matching import check_device, matched
from ctm.sim.kernels.profiling import Disassembly, KernelProfile
from ctm.sim.kernels.workspace import Results, workspace
from ctm.sim.runtime import Device

_P = ParamSpec("_P")
_R = TypeVar("_R")
_DEFAULT_DEVICES = RLock()
"""Held while the device is looked for that calls without one share."""


class PythonKernel(Generic[_P, _R]):
    """A function that is a kernel.

    Called, it is the function: of one pixel, in plain Python. `kernel[width, height]` is the kernel over a domain, to
    be called with everything but the pixel. It is translated when it first runs: what it uses of its file counts as it
    is then. Threads may share it.
    """

    def __init__(self, function: Callable[_P, _R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._programs: dict[str, Executable] = {}
        self._lock = RLock()

    def __reduce__(self) -> str:
        """Pickled and copied as functions are: by its module and its name."""
        return self._function.__qualname__

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run it for one pixel, in plain Python."""
        return self._function(*args, **kwargs)

    def __getitem__(self, size: tuple[int, int]) -> "Domain":
        """The kernel over a domain of a width and a height, each 1 to 4096, as numbers of Python or numpy.

        Raises
        ------
        ValueError
            There is no such domain.
        """
        try:
            width, height = size
            return Domain(self, _side("width", width), _side("height", height))
        except (TypeError, ValueError) as error:
            shown = f"{list(size)}" if isinstance(size, tuple) else f"{size!r}"
            reason = f": {error}" if isinstance(size, tuple) and len(size) == len(("width", "height")) else ""
            message = f"a domain is [width, height], each 1 to {COORDINATE_LIMIT}, not {shown}{reason}"
            raise ValueError(message) from None

    def program(self, isa: str = DEFAULT_TARGET) -> Executable:
        """Its program for an instruction set.

        Raises
        ------
        KernelError
            It cannot be compiled; each error has its file and line.
        ToolchainError
            A package is missing.
        ValueError
            There is no such instruction set.
        """
        _check_isa(isa)
        with self._lock:
            if isa not in self._programs:
                self._programs[isa] = compiled(self._translation, isa)
            return self._programs[isa]

    def disassembly(self, isa: str = DEFAULT_TARGET) -> Disassembly:
        """The text of its program for an instruction set, with source lines in comments; errors as `program`."""
        return Disassembly(disassemble(self.program(isa)))

    @property
    def signature(self) -> Signature:
        """What it takes and gives; KernelError if it is no kernel."""
        with self._lock:
            return self._translation.signature

    @functools.cached_property
    def definition(self) -> Definition:
        """Its syntax tree; KernelError if its source cannot be read."""
        try:
            return definition(self._function)
        except Problem as problem:
            code = self._function.__code__
            location = Location(code.co_filename, code.co_firstlineno)
            raise KernelError([Diagnostic(location, str(problem))]) from None

    @property
    def translation(self) -> Translation:
        """Its source in C, with its signature; KernelError if it is no kernel."""
        with self._lock:
            return self._translation

    @functools.cached_property
    def _translation(self) -> Translation:
        return translate_definition(self.definition)


class Domain:
    """A kernel over the pixels of a domain, from (0, 0) on."""

    def __init__(self, kernel: PythonKernel[Any, Any], width: int, height: int) -> None:
        self._kernel = kernel
        self._size = width, height

    def __call__(
        self, /, *arguments: Any, device: Device | None = None, isa: str | None = None, **named: Any
    ) -> Results:
        """Run it on a device, or on one of engine `auto` with cores of `isa`, R700's if nothing is said.

        Images are arrays [height, width] or [height, width, channels], lists are sequences or arrays, numbers and
        vectors what Python and numpy have for them; each by its position or its parameter's name. The result is an
        array [height, width], of a vector [height, width, components], of a tuple a tuple of these: float32, int32,
        uint32 or bool; 0 where a pixel was discarded.

        Several threads may use one device: it runs one call at a time.

        Raises
        ------
        KernelError
            It cannot be compiled; each error has its file and line.
        TypeError, ValueError
            An argument does not fit; the message names it.
        MachineError
            The program failed.
        """
        check_device(device)
        if device is None:
            device = _default_device(DEFAULT_TARGET if isa is None else isa)
        own = device.config.array.instruction_set
        if isa not in (None, own):
            raise ValueError(f"the device has cores of {own}, not of {isa}")
        signature = self._kernel.signature
        values = self._matched(signature.parameters, arguments, named)
        program = self._kernel.program(own)
        given = bound(signature.parameters, values, program)
        with device:
            return workspace(device).run(device, program, signature, given, self._size)

    def profile(
        self,
        /,
        *arguments: Any,
        engine: str = GoldenEngine.name,
        config: MachineConfig | None = None,
        isa: str = DEFAULT_TARGET,
        **named: Any,
    ) -> KernelProfile:
        """Run it on a device of its own that is watched; `engine` is golden, or rtl, which has cycles.

        `config` is the default machine of `isa` if nothing is said. Arguments and errors are those of a call.
        """
        if "device" in named:
            raise TypeError(
                "profile() has a device of its own, which is watched: give engine= and config=, not device="
            )
        if config is None:
            _check_isa(isa)
            config = PRESETS[DEFAULT_PRESETS[isa]]
        device = Device(engine, config, watch=Watching())
        result = self(*arguments, device=device, **named)
        (program,) = device.profiles()
        return KernelProfile(result=result, report=device.report(), program=program)

    def in_python(self, /, *arguments: Any, **named: Any) -> Results:
        """The same in plain Python, pixel by pixel, to look at every step; floats have more digits while it computes.

        What cannot be compiled, such as a kernel that prints, gives arrays of the types that hold all results.
        """
        pixel_type, parameters = kernel_parameters(self._kernel.definition)
        values = self._matched(parameters, arguments, named)
        try:
            signature = self._kernel.signature
        except KernelError:
            signature = None
        return interpreted(self._kernel, pixel_type, parameters, values, self._size, signature)

    def _matched(
        self, parameters: Mapping[str, Parameter], given: Sequence[Any], named: Mapping[str, Any]
    ) -> list[Any]:
        """The arguments in the order of the kernel's parameters."""
        node = self._kernel.definition.node
        return matched(node.name, node.args.args[0].arg, list(parameters), given, named)


def kernel(function: Callable[_P, _R]) -> PythonKernel[_P, _R]:
    """Make a kernel of a function of a pixel; docs/kernels.md has what such a function may do."""
    if not inspect.isfunction(function):
        raise TypeError(f"@kernel stands above a function that is written with def, not above {function!r}")
    return PythonKernel(function)


def _default_device(isa: str) -> Device:
    """The device of all calls that name none."""
    _check_isa(isa)
    with _DEFAULT_DEVICES:
        return _made_device(isa)


@functools.cache
def _made_device(isa: str) -> Device:
    return Device("auto", PRESETS[DEFAULT_PRESETS[isa]])


def _check_isa(isa: str) -> None:
    if not isinstance(isa, str) or isa not in TARGETS:
        raise ValueError(f"kernels are compiled for {' or '.join(TARGETS)}, not for {isa!r}")


def _side(name: str, value: Any) -> int:
    """A width or a height of a domain; TypeError or ValueError with the reason if it is none."""
    if isinstance(value, bool):
        raise TypeError(f"the {name} is a bool")
    try:
        side = operator.index(value)
    except TypeError:
        raise TypeError(f"the {name} is a {type(value).__name__}, not a whole number") from None
    if not 1 <= side <= COORDINATE_LIMIT:
        raise ValueError(f"the {name} is too {'small' if side < 1 else 'large'}")
    return side

"""`@kernel`: a function of a pixel that runs on a device, and still is that function."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.compiler.error import Diagnostic, KernelError, Location
from ctm.sim.compiler.python import (
    Definition,
    Problem,
    Signature,
    Translation,
    definition,
    kernel_parameters,
    translate_definition,
)
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.elf import Executable
from ctm.sim.kernels.arguments import bound
from ctm.sim.kernels.compilation import compiled
from ctm.sim.kernels.interpretation import interpreted
from ctm.sim.kernels.workspace import Results, workspace
from ctm.sim.runtime import Device

_P = ParamSpec("_P")
_R = TypeVar("_R")


class PythonKernel(Generic[_P, _R]):
    """A function that is a kernel.

    Called, it is the function: of one pixel, in plain Python. `kernel[width, height]` is the kernel over a domain, to
    be called with everything but the pixel. It is translated when it first runs: what it uses of its file counts as it
    is then.
    """

    def __init__(self, function: Callable[_P, _R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._programs: dict[str, Executable] = {}

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run it for one pixel, in plain Python."""
        return self._function(*args, **kwargs)

    def __getitem__(self, size: tuple[int, int]) -> "Domain":
        """The kernel over a domain of a width and a height, each 1 to 4096.

        Raises
        ------
        ValueError
            There is no such domain.
        """
        is_pair = isinstance(size, tuple) and len(size) == len(("width", "height"))
        if not is_pair or not all(isinstance(each, int) and 1 <= each <= COORDINATE_LIMIT for each in size):
            raise ValueError(f"a domain is [width, height], each 1 to {COORDINATE_LIMIT}, not {size!r}")
        return Domain(self, *size)

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
        if isa not in self._programs:
            _check_isa(isa)
            self._programs[isa] = compiled(self._translation, isa)
        return self._programs[isa]

    @property
    def signature(self) -> Signature:
        """What it takes and gives; KernelError if it is no kernel."""
        return self._translation.signature

    @functools.cached_property
    def definition(self) -> Definition:
        """Its syntax tree; KernelError if its source cannot be read."""
        try:
            return definition(self._function)
        except Problem as problem:
            code = self._function.__code__
            place = Location(code.co_filename, code.co_firstlineno)
            raise KernelError([Diagnostic(place, str(problem))]) from None

    @functools.cached_property
    def _translation(self) -> Translation:
        return translate_definition(self.definition)


class Domain:
    """A kernel over the pixels of a domain, from (0, 0) on."""

    def __init__(self, kernel: PythonKernel[Any, Any], width: int, height: int) -> None:
        self._kernel = kernel
        self._size = width, height

    def __call__(self, *arguments: Any, device: Device | None = None, isa: str | None = None) -> Results:
        """Run it on a device, or on one of engine `auto` with cores of `isa`, R700's if nothing is said.

        Images are arrays [height, width] or [height, width, channels], lists are sequences or arrays, numbers and
        vectors what Python and numpy have for them. The result is an array [height, width], of a vector
        [height, width, components], of a tuple a tuple of these: float32, int32, uint32 or bool; 0 where a pixel was
        discarded.

        Raises
        ------
        KernelError
            It cannot be compiled; each error has its file and line.
        TypeError, ValueError
            An argument does not fit; the message names it.
        MachineError
            The program failed.
        """
        if device is None:
            device = _default_device(isa or DEFAULT_TARGET)
        own = device.config.array.instruction_set
        if isa not in (None, own):
            raise ValueError(f"the device has cores of {own}, not of {isa}")
        program, signature = self._kernel.program(own), self._kernel.signature
        given = bound(signature.parameters, arguments, program)
        return workspace(device).run(device, program, signature, given, self._size)

    def in_python(self, *arguments: Any) -> Results:
        """The same in plain Python, pixel by pixel, to look at every step; floats have more digits there."""
        place, parameters = kernel_parameters(self._kernel.definition)
        return interpreted(self._kernel, place, parameters, arguments, self._size)


def kernel(function: Callable[_P, _R]) -> PythonKernel[_P, _R]:
    """Make a kernel of a function of a pixel; docs/kernels.md has what such a function may do."""
    if not inspect.isfunction(function):
        raise TypeError(f"@kernel stands above a function that is written with def, not above {function!r}")
    return PythonKernel(function)


@functools.cache
def _default_device(isa: str) -> Device:
    _check_isa(isa)
    return Device("auto", PRESETS[DEFAULT_PRESETS[isa]])


def _check_isa(isa: str) -> None:
    if isa not in TARGETS:
        raise ValueError(f"kernels are compiled for {' or '.join(TARGETS)}, not for '{isa}'")

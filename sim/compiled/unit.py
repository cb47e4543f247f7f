"""One component without handshake as a compiled model, applied to whole arrays."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from amaranth.lib import wiring
from numpy.typing import NDArray

from ctm.sim.compiled.gated import merged
from ctm.sim.compiled.numbered import Numbered, port_name
from ctm.sim.compiled.operands import block, empty, operands
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import Port, ports

_TOP = "unit"
_BLOCK = 1 << 16
"""Cycles of one call of the compiled code: an interrupt is noticed between two, and only a block is ever copied."""


class CompiledUnit:
    """A component that takes one operand set and gives one result in each cycle, `latency` cycles later.

    `latency` is an attribute of the component; 0 is combinational. Making a unit converts and compiles the component,
    or loads it from the cache. Calls are independent: each has a model of its own, which is reset before, so a unit may
    be called by several threads. The compiled code itself, some hundred
    KiB, remains in memory until the process ends.

    Raises
    ------
    ToolchainError
        A tool is missing or failed.
    ValueError
        The component has no latency.
    DomainError
        The component uses another clock domain than "sync".
    """

    def __init__(self, component: wiring.Component) -> None:
        latency = getattr(component, "latency", None)
        if not isinstance(latency, int) or latency < 0:
            raise ValueError(f"{type(component).__name__}.latency must be a number of cycles, not {latency!r}")
        self.latency = latency
        listed = list(ports(component))
        self.inputs = {port.name: port.width for port in listed if port.is_input}
        self.outputs = {port.name: port.width for port in listed if not port.is_input}
        """Widths of the ports by name."""
        verilog = merged(Numbered(component, listed), _TOP)
        self._library = _load(build(Model(_TOP, verilog), _wrapper(listed)))

    def __call__(self, **inputs: Any) -> dict[str, NDArray[Any]]:
        """The outputs for arrays of n operand sets.

        An input is an array [n] of integers or booleans, or, for a port of 32 bits, float32, which counts as its bits;
        of a port wider than 64 bits it is [n, words] of 32-bit words, the lowest first. An integer stands for all n;
        if all inputs are integers then n is 1. Outputs are [n] of uint8, 16, 32 or 64, the smallest that holds the
        port, or [n, words] of uint32; element k is the result of operand set k. Memory is that of inputs and outputs,
        and a block of 65,536 elements of each.

        Raises
        ------
        TypeError
            An input is missing or unknown, or has a type that is none of these.
        ValueError
            A shape is wrong, arrays have different lengths, or a value does not fit its port.
        """
        given, count = operands(self.inputs, inputs)
        results = {name: empty(count, width) for name, width in self.outputs.items()}
        with self._model() as model:
            for start in range(0, count + self.latency if count else 0, _BLOCK):
                self._run_block(model, given, list(results.values()), start, count)
        return results

    def _run_block(
        self, model: int, given: list[NDArray[Any]], results: list[NDArray[Any]], start: int, count: int
    ) -> None:
        """Run a block of cycles, from `start` on."""
        end = min(start + _BLOCK, count + self.latency)
        taken = max(min(end, count) - start, 0)
        dropped = min(max(self.latency - start, 0), end - start)
        first_result = max(start - self.latency, 0)
        # The arrays must live until the call returns: the pointers do not hold them.
        inputs = [
            block(array, width, start, start + taken)
            for array, width in zip(given, self.inputs.values(), strict=True)
        ]  # fmt: skip
        outputs = [array[first_result:] for array in results]
        self._library.unit_run(model, _pointers(inputs), _pointers(outputs), end - start, taken, dropped)

    @contextmanager
    def _model(self) -> Iterator[int]:
        model = self._library.unit_make()
        try:
            yield model
        finally:
            self._library.unit_free(model)


def _pointers(arrays: list[NDArray[Any]]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def _load(path: Path) -> ctypes.CDLL:
    """The compiled wrapper, its functions with their types."""
    library = ctypes.CDLL(str(path))
    arrays = ctypes.POINTER(ctypes.c_void_p)
    library.unit_make.restype = ctypes.c_void_p
    library.unit_free.argtypes = [ctypes.c_void_p]
    library.unit_run.argtypes = [ctypes.c_void_p, arrays, arrays, *[ctypes.c_size_t] * 3]
    library.unit_free.restype = library.unit_run.restype = None
    return library


def _wrapper(listed: list[Port]) -> str:
    """The C++ around the model, with a copy for each port."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for number, port in enumerate(listed):
        own = lines[port.is_input]
        function, array = ("load", "inputs") if port.is_input else ("store", "outputs")
        own.append(f"{function}(model.{port_name(number)}, {array}[{len(own)}], index);  // {port.name}")
    template = resources.files("ctm.sim.compiled").joinpath("wrapper.cc").read_text()
    return template.replace("// @LOAD@", "\n    ".join(lines[True])).replace("// @STORE@", "\n    ".join(lines[False]))

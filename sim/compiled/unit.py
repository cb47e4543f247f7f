"""One unit of hardware as a function on numpy arrays."""

import ctypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from amaranth import Shape
from amaranth.back import verilog
from amaranth.lib import wiring

from sim.compiled.toolchain import build

Words = np.ndarray[Any, np.dtype[Any]]

_TOP = "unit"
_WORD_BITS = 32
_PAIR_BITS = 64


@dataclass(frozen=True)
class Port:
    """A port of the unit, as so many bits."""

    name: str
    bits: int

    @property
    def words(self) -> int:
        """32-bit words of a row."""
        return -(-self.bits // _WORD_BITS)

    @property
    def is_wide(self) -> bool:
        """Whether no integer of numpy holds it."""
        return self.bits > _PAIR_BITS

    def rows(self, values: object) -> Words:
        """Values as rows of words: uint32 [n, words], or [1, words] for what is the same in every cycle.

        Raises
        ------
        ValueError
            They have the wrong shape, are no integers, or have more bits than the port.
        """
        if isinstance(values, int):
            if not 0 <= values < 1 << self.bits:
                raise ValueError(f"{self.name}: {values:#x} does not fit into {self.bits} bits")
            row = values.to_bytes(4 * self.words, "little")
            return np.frombuffer(row, np.uint32).reshape(1, self.words)
        array = np.asarray(values)
        if array.dtype == np.float32:
            array = array.view(np.uint32)
        if array.dtype.kind not in "ub":
            raise ValueError(f"{self.name}: wants unsigned integers or float32, not {array.dtype}")
        if self.is_wide:
            if array.ndim != 2 or array.shape[1] != self.words or array.dtype != np.uint32:
                raise ValueError(f"{self.name}: wants uint32 [n, {self.words}] for {self.bits} bits")
            return np.ascontiguousarray(array)
        if array.ndim != 1:
            raise ValueError(f"{self.name}: wants one dimension, not {array.ndim}")
        if array.size and int(array.max()) >> self.bits:
            raise ValueError(f"{self.name}: {int(array.max()):#x} does not fit into {self.bits} bits")
        integer = np.uint32 if self.words == 1 else np.uint64
        return np.ascontiguousarray(array, integer).view(np.uint32).reshape(-1, self.words)

    def empty(self, rows: int) -> Words:
        """An array for so many results."""
        if self.is_wide:
            return np.empty((rows, self.words), np.uint32)
        return np.empty(rows, np.uint32 if self.words == 1 else np.uint64)


class _Rows(ctypes.Structure):
    _fields_ = [("words", ctypes.c_void_p), ("stride", ctypes.c_uint64)]


class CompiledUnit:
    """A component without handshake, compiled: operands go in in every cycle, results come `latency` cycles later.

    A port is its bits, whatever its layout. Ports of up to 64 bits are arrays of integers (or float32), wider ones
    uint32 [n, words], the least significant word first; a plain integer stands for an input that does not change.

    Raises
    ------
    ToolError
        A tool is missing, or failed.
    """

    def __init__(self, component: wiring.Component, *, latency: int | None = None) -> None:
        self._latency: int = component.latency if latency is None else latency  # type: ignore[attr-defined]
        text = verilog.convert(component, name=_TOP, emit_src=False, strip_internal_attrs=True)
        self.inputs, self.outputs = _ports(component)
        is_clocked = bool(re.search(r"^ *input clk *;", text, re.MULTILINE))
        if self._latency and not is_clocked:
            raise ValueError(f"a unit without registers cannot have a latency of {self._latency}")
        self._library = ctypes.CDLL(str(build(text, _TOP, _driver(self.inputs, self.outputs, is_clocked))))
        self._library.create.restype = ctypes.c_void_p
        self._model = ctypes.c_void_p(self._library.create())

    def __del__(self) -> None:
        """Free the model."""
        if hasattr(self, "_model"):
            self._library.destroy(self._model)

    def __call__(self, **operands: object) -> dict[str, Words]:
        """Results of all outputs by name, for operands of all inputs by name.

        Raises
        ------
        ValueError
            An input is missing, unknown, of another length or too large.
        """
        rows = self._rows(operands)
        count = max((len(array) for array in rows.values()), default=1)
        for name, array in rows.items():
            if len(array) not in (1, count):
                raise ValueError(f"{name}: has {len(array)} values where others have {count}")
        results = {port.name: port.empty(count) for port in self.outputs}
        if count:
            inputs = (_Rows * len(rows))(
                *(_Rows(array.ctypes.data, array.shape[1] if len(array) > 1 else 0) for array in rows.values())
            )
            outputs = (_Rows * len(results))(
                *(_Rows(results[port.name].ctypes.data, port.words) for port in self.outputs)
            )
            self._library.stream(self._model, ctypes.c_uint64(count), ctypes.c_uint64(self._latency), inputs, outputs)
        return results

    def _rows(self, operands: Mapping[str, object]) -> dict[str, Words]:
        names = [port.name for port in self.inputs]
        if sorted(names) != sorted(operands):
            raise ValueError(f"the inputs are {', '.join(names)}, not {', '.join(operands)}")
        return {port.name: port.rows(operands[port.name]) for port in self.inputs}


def _ports(component: wiring.Component) -> tuple[list[Port], list[Port]]:
    inputs, outputs = [], []
    for path, member, _ in component.signature.flatten(component):
        port = Port("__".join(map(str, path)), Shape.cast(member.shape).width)
        (inputs if member.flow is wiring.In else outputs).append(port)
    return inputs, outputs


def _driver(inputs: list[Port], outputs: list[Port], is_clocked: bool) -> str:
    """The C++ around the model."""
    template = Path(__file__).with_name("stream.cc").read_text()
    edge = "    top.clk = 1;\n    top.eval();\n    top.clk = 0;\n    top.eval();\n" if is_clocked else ""
    reset = "model->top.rst = 1;\n    edge(model->top);\n    model->top.rst = 0;" if is_clocked else ""
    parts = {
        "@INPUTS@": "".join(_drive(index, port) for index, port in enumerate(inputs)),
        "@OUTPUTS@": "".join(_sample(index, port) for index, port in enumerate(outputs)),
        "@EDGE@": edge,
        "@RESET@": reset,
    }
    for mark, text in parts.items():
        template = template.replace(mark, text)
    return template


def _drive(index: int, port: Port) -> str:
    row = f"inputs[{index}].row(index)"
    if port.is_wide:
        return f"    std::copy_n({row}, {port.words}, top.{port.name}.data());\n"
    return f"    top.{port.name} = {f'pair({row})' if port.words == 2 else f'*{row}'};\n"


def _sample(index: int, port: Port) -> str:
    row = f"outputs[{index}].row(index)"
    if port.is_wide:
        return f"    std::copy_n(top.{port.name}.data(), {port.words}, {row});\n"
    return f"    unpair(top.{port.name}, {row});\n" if port.words == 2 else f"    *{row} = top.{port.name};\n"

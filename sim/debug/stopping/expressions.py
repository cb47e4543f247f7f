"""Expressions over a wavefront's state, in Python's notation: ``r1.x > 0.5 and active``.

A register is its floats, ``int(R1.x)`` its bits as a whole number. A comparison has a value for each lane.
"""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.images.elements import address_in, element_value, word_value
from ctm.sim.debug.views import FLOAT, INTEGER, Value, View
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.launch import Launch

Steps = npt.NDArray[np.signedinteger]
_WHOLE_BITS = 64
"""Of a whole number, sign included."""
_WORD = 0xFFFF_FFFF


def _shifted(shift: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A shift that rejects a count which numpy would compute anything for."""

    def checked(number: Any, count: Any) -> Any:
        if np.any((np.asarray(count) < 0) | (np.asarray(count) >= _WHOLE_BITS)):
            raise DebugError(f"a shift is by 0 to {_WHOLE_BITS - 1} bits: whole numbers have {_WHOLE_BITS}")
        return shift(number, count)

    return checked


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: _shifted(operator.lshift),
    ast.RShift: _shifted(operator.rshift), ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class Expression:
    """An expression, checked as far as that is possible before it is evaluated.

    Raises
    ------
    DebugError
        It is none.
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        address = address_in(self.text)
        try:
            self._tree = ast.parse(self.text if address is None else f"memory[{address}]", mode="eval").body
        except SyntaxError as error:
            raise DebugError(f"'{self.text}' is no expression: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError):
            raise DebugError("the expression is too long, or no text") from None

    def value(
        self, view: View, batch: Batch[Any], launch: Launch[Any], steps: Steps | None = None
    ) -> Value | npt.NDArray[Any]:
        """What it is: a register with its channels, or numbers [lanes].

        Wavefronts executed `steps` instructions [wavefronts], if that is not what the batch counts.
        """
        if steps is None:
            steps = batch.executed + batch.steps
        with np.errstate(all="ignore"):
            try:
                found: Value | npt.NDArray[Any] = _Scope(view, batch, launch, steps).evaluated(self._tree)
            except TypeError:
                raise DebugError(f"'{self.text}' mixes floats and bits: int(...) are the bits of a register") from None
            except RecursionError:
                raise DebugError("the expression is too long") from None
        return found

    def words(
        self, view: View, batch: Batch[Any], launch: Launch[Any], steps: Steps | None = None
    ) -> npt.NDArray[np.uint32]:
        """The bits of its value, [channels, lanes]; see `value`."""
        found = self.value(view, batch, launch, steps)
        if isinstance(found, Value):
            return found.words
        spread = np.ascontiguousarray(np.broadcast_to(found, batch.size))
        return spread.astype(np.float64).view(np.uint32).reshape(-1, 2).T

    def holds(
        self, view: View, batch: Batch[Any], launch: Launch[Any], steps: Steps | None = None
    ) -> npt.NDArray[np.bool_]:
        """In which lanes it is true, [lanes]; see `value`."""
        found = np.asarray(_numbers(self.value(view, batch, launch, steps), self.text)).astype(bool)
        return np.broadcast_to(found, batch.size)


@dataclass(frozen=True)
class _Scope:
    """What names stand for."""

    view: View
    batch: Batch[Any]
    launch: Launch[Any]
    steps: Steps

    def evaluated(self, node: ast.AST) -> Any:
        """What a term of an expression is."""
        found = self._leaf(node)
        if found is None:
            found = self._operation(node)
        if found is None:
            raise DebugError(f"'{ast.unparse(node)}' is not understood here")
        return found

    def numbers(self, node: ast.AST) -> npt.NDArray[Any]:
        """The same as numbers, for each lane or for all."""
        return _numbers(self.evaluated(node), ast.unparse(node))

    def _leaf(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number):
                return _constant(number)
            case ast.Name(id="i" | "j" as name):
                return getattr(self.batch, name)
            case ast.Name(id="step"):
                return np.repeat(self.steps, self.batch.lanes)
            case ast.Name(id=name):
                return self.view.value(self.batch, self.launch, name)
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Tuple(elts=[ast.Constant(value=int(i)), ast.Constant(value=int(j))])
            ):
                return element_value(self.launch, name, (i, j), self.batch.size)
            case ast.Subscript(value=ast.Name(id="memory"), slice=ast.Constant(value=int(address))):
                return word_value(self.launch, address, self.batch.size)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(row))):
                return self.view.bank(self.batch, self.launch, name, row)
            case ast.Attribute(value=ast.Subscript() as row, attr=channel):
                found = self._leaf(row)
                return None if found is None else found.channel(channel)
            case ast.Attribute(value=ast.Name(id=name), attr=channel):
                return self.view.value(self.batch, self.launch, name).channel(channel)
        return None

    def _operation(self, node: ast.AST) -> Any:
        match node:
            case ast.Call(func=ast.Name(id="int" | "uint" | "float" as name), args=[argument], keywords=[]):
                return _as(name, self.evaluated(argument), ast.unparse(argument))
            case ast.Call(func=ast.Name(id="abs"), args=[argument], keywords=[]):
                return np.abs(self.numbers(argument))
            case ast.UnaryOp(op=ast.USub()):
                return -_whole(self.numbers(node.operand))
            case ast.UnaryOp(op=ast.UAdd()):
                return self.numbers(node.operand)
            case ast.UnaryOp(op=ast.Invert()):
                # Of bits as in Python, of a mask its other lanes.
                return ~self.numbers(node.operand)
            case ast.UnaryOp(op=ast.Not()):
                return ~self.numbers(node.operand).astype(bool)
            case ast.BoolOp(op=kind, values=values):
                join = np.logical_and if isinstance(kind, ast.And) else np.logical_or
                operands = (self.numbers(each).astype(bool) for each in values)
                return join.reduce([np.broadcast_to(condition, self.batch.size) for condition in operands])
            case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
                both = self.numbers(left), self.numbers(right)
                # A mask keeps its lanes in bitwise operations, and is 0 and 1 in all others.
                is_bitwise = isinstance(kind, ast.BitAnd | ast.BitOr | ast.BitXor)
                return _OPERATORS[type(kind)](*(both if is_bitwise else map(_whole, both)))
            case ast.Compare(left=left, ops=kinds, comparators=others) if all(
                type(kind) in _OPERATORS for kind in kinds
            ):
                numbers = [self.numbers(each) for each in (left, *others)]
                pairs = zip(kinds, numbers, numbers[1:], strict=False)
                holds = (_OPERATORS[type(kind)](*both) for kind, *both in pairs)
                return np.logical_and.reduce([np.broadcast_to(each, self.batch.size) for each in holds])
        return None


def _constant(number: float) -> npt.NDArray[Any]:
    if isinstance(number, int) and number.bit_length() >= _WHOLE_BITS:
        raise DebugError(f"{number} has more than {_WHOLE_BITS - 1} bits and a sign")
    return np.asarray(number)


def _as(name: str, found: Any, text: str) -> Value | npt.NDArray[Any]:
    """The bits of a register as something else; a number that was computed is itself, and has no bits."""
    if not isinstance(found, Value):
        numbers = np.asarray(found)
        if name == "float":
            return numbers.astype(np.float32)
        if numbers.dtype.kind == "f":
            raise DebugError(f"{name}() gives the bits of a register, and '{text}' is no register but a computed float")
        whole = numbers.astype(np.int64)
        return whole & _WORD if name == "uint" else whole
    if name == "uint":
        return _numbers(Value(found.words, INTEGER), text).astype(np.int64) & _WORD
    return Value(found.words, FLOAT if name == "float" else INTEGER)


def _whole(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Lanes of a mask as 0 and 1, as Python computes with them; numbers unchanged."""
    return numbers.astype(np.int64) if numbers.dtype.kind == "b" else numbers


def _numbers(found: Any, text: str) -> npt.NDArray[Any]:
    """The numbers of a value with one channel."""
    if not isinstance(found, Value):
        return np.asarray(found)
    numbers = found.numbers
    if len(numbers) != 1:
        raise DebugError(f"'{text}' has {len(numbers)} channels; '{text}.x' is one of them")
    row: npt.NDArray[Any] = numbers[0]
    return row

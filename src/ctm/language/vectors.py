"""Vectors and unsigned numbers of kernels, as plain Python: what `ctm.kernel` compiles runs on these too."""

import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

_WORD = 1 << 32
_NAMES = ("xyzw", "rgba")


class uint(int):  # noqa: N801 - the field's name
    """A whole number of 32 bits without sign: what does not fit is cut off."""

    def __new__(cls, value: Any = 0) -> "uint":
        """The number; of one that is too long, or negative, the lowest 32 bits."""
        return super().__new__(cls, int(value) % _WORD)

    def __repr__(self) -> str:
        return f"uint({int(self):#x})"

    def __invert__(self) -> "uint":
        return uint(~int(self))

    def __neg__(self) -> "uint":
        return uint(-int(self))

    def __pos__(self) -> "uint":
        return self

    def __lshift__(self, count: Any) -> "uint":
        return uint(int(self) << int(count))

    def __rshift__(self, count: Any) -> "uint":
        return uint(int(self) >> int(count))


def _of_word(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """An operator of `uint` with another whole number, and its mirror image; floats are left to floats."""
    plain = getattr(int, name)

    def forward(self: Any, other: Any) -> Any:
        return uint(plain(int(self), int(other))) if isinstance(other, int) else NotImplemented

    def mirrored(self: Any, other: Any) -> Any:
        return uint(plain(int(other), int(self))) if isinstance(other, int) else NotImplemented

    return forward, mirrored


def _power(self: uint, exponent: Any) -> Any:
    is_whole = isinstance(exponent, int) and exponent >= 0
    return uint(pow(int(self), int(exponent), _WORD)) if is_whole else int(self) ** exponent


setattr(uint, "__pow__", _power)  # noqa: B010 - its types are not those of int
for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor"):
    _forward, _mirrored = _of_word(f"__{_name}__")
    setattr(uint, f"__{_name}__", _forward)
    setattr(uint, f"__r{_name}__", _mirrored)


class Vector(tuple[Any, ...]):
    """Two to four components, which do not change; operators work on each.

    Components are .x .y .z .w or .r .g .b .a, several at once in any order (v.zyx), and v[k].
    """

    size: ClassVar[int]
    scalar: ClassVar[type]
    # Operators are set below; those of tuples have other types.
    __add__: Any
    __radd__: Any
    __sub__: Any
    __rsub__: Any
    __mul__: Any
    __rmul__: Any
    __truediv__: Any
    __rtruediv__: Any
    __floordiv__: Any
    __rfloordiv__: Any
    __mod__: Any
    __rmod__: Any
    __pow__: Any
    __rpow__: Any
    __and__: Any
    __rand__: Any
    __or__: Any
    __ror__: Any
    __xor__: Any
    __rxor__: Any
    __lshift__: Any
    __rlshift__: Any
    __rshift__: Any
    __rrshift__: Any

    def __new__(cls, *elements: Any) -> "Vector":
        """A vector of scalars and shorter vectors; of one scalar alone, it is in every component.

        Raises
        ------
        TypeError
            They are too many or too few.
        """
        values = list(_flat(elements))
        if len(elements) == 1 and not isinstance(elements[0], Vector):
            values *= cls.size
        if len(values) != cls.size:
            raise TypeError(f"{cls.__name__} takes {cls.size} components, not {len(values)}")
        return super().__new__(cls, map(cls.scalar, values))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self))})"

    def __getattr__(self, name: str) -> Any:
        for names in _NAMES:
            indices = [names[: self.size].find(letter) for letter in name]
            if indices and min(indices) >= 0 and len(indices) <= len(_NAMES[0]):
                elements = [self[index] for index in indices]
                return elements[0] if len(elements) == 1 else VECTORS[self.scalar, len(elements)](*elements)
        raise AttributeError(f"a {type(self).__name__} has no '{name}'")

    def _with(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, Vector):
            if other.size != self.size:
                return NotImplemented
            return _vector([function(one, two) for one, two in zip(self, other, strict=True)])
        return _vector([function(one, other) for one in self])

    def __neg__(self) -> "Vector":
        return type(self)(*(-one for one in self))

    def __abs__(self) -> "Vector":
        return type(self)(*map(abs, self))

    def __invert__(self) -> "Vector":
        return type(self)(*(~one for one in self))


def _flat(elements: tuple[Any, ...]) -> Iterator[Any]:
    for element in elements:
        yield from element if isinstance(element, Vector) else (element,)


def _vector(values: list[Any]) -> Vector:
    """The vector of these components, by the kind of the first."""
    kind = uint if isinstance(values[0], uint) else int if isinstance(values[0], int) else float
    return VECTORS[kind, len(values)](*values)


def _of_components(function: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    return (
        lambda self, other: self._with(other, function),
        lambda self, other: self._with(other, lambda one, two: function(two, one)),
    )


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"):
    _forward, _mirrored = _of_components(getattr(operator, _name))
    setattr(Vector, f"__{_name.rstrip('_')}__", _forward)
    setattr(Vector, f"__r{_name.rstrip('_')}__", _mirrored)


class vec2(Vector):  # noqa: N801
    """Two floats."""

    size, scalar = 2, float


class vec3(Vector):  # noqa: N801
    """Three floats."""

    size, scalar = 3, float


class vec4(Vector):  # noqa: N801
    """Four floats."""

    size, scalar = 4, float


class ivec2(Vector):  # noqa: N801
    """Two whole numbers."""

    size, scalar = 2, int


class ivec3(Vector):  # noqa: N801
    """Three whole numbers."""

    size, scalar = 3, int


class ivec4(Vector):  # noqa: N801
    """Four whole numbers."""

    size, scalar = 4, int


class uvec2(Vector):  # noqa: N801
    """Two whole numbers without sign."""

    size, scalar = 2, uint


class uvec3(Vector):  # noqa: N801
    """Three whole numbers without sign."""

    size, scalar = 3, uint


class uvec4(Vector):  # noqa: N801
    """Four whole numbers without sign."""

    size, scalar = 4, uint


VECTORS: dict[tuple[type, int], type[Vector]] = {
    (kind.scalar, kind.size): kind for kind in (vec2, vec3, vec4, ivec2, ivec3, ivec4, uvec2, uvec3, uvec4)
}
"""By kind and number of components."""

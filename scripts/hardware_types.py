"""A plugin of mypy: the ports of a component are attributes, and a signal of a layout is a view.

Ports are the keys of the dictionaries from which ``super().__init__`` makes a signature. Its argument is followed
through names, unions, conditions and called functions, in the text of the files. A component that computes a name may
have any attribute.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from mypy.checker import TypeChecker
from mypy.errorcodes import ATTR_DEFINED
from mypy.nodes import ARG_OPT, ARG_POS, Argument, MemberExpr, TypeInfo, Var
from mypy.plugin import (
    AttributeContext,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
)
from mypy.plugins.common import add_attribute_to_class, add_method_to_class
from mypy.types import AnyType, CallableType, FunctionLike, Instance, Type, TypeOfAny, UnboundType, get_proper_type

_COMPONENT, _VIEW, _LAYOUT = "amaranth.lib.wiring.Component", "amaranth.lib.data.View", "amaranth.lib.data.Layout"
_SIGNAL = "amaranth.hdl._ast.Signal"
_OWN = "ctm.rtl."
_COMPUTES = "computes names of ports"
_NOT_IN_STUBS: Mapping[str, tuple[str, ...]] = {
    "amaranth.hdl._ast.Operator": ("operator", "operands"),
    "amaranth.hdl._ast.Part": ("value", "offset", "width", "stride"),
    "amaranth.hdl._ast.Signal": ("duid",),
    "amaranth.hdl._ast.Switch": ("test", "cases"),
    "amaranth.hdl._cd.ClockDomain": ("clk", "rst"),
    "amaranth.hdl._ir.Fragment": ("statements", "subfragments", "origins"),
    "amaranth.hdl._ir.Instance": ("type",),
    "amaranth.hdl._mem.MemoryInstance": ("_read_ports", "read_port", "write_port"),
    "amaranth.lib.fifo.FIFOInterface": ("level",),
    "amaranth.lib.io.DDRBuffer": ("i", "o", "oe"),
}
_INTERFACE = "amaranth.lib.wiring.PureInterface"
_CONST = re.compile(r"amaranth\.lib\.data\.\w*Layout\.(const|from_bits)")
_MEMORY = "amaranth.lib.memory.Memory"
_PROPERTIES = tuple(f"amaranth.hdl._ast.{name}" for name in ("Assert", "Assume", "Cover"))
_ANY = AnyType(TypeOfAny.explicit)


class _ComputedError(Exception):
    """A name is computed, or comes from where this plugin does not look."""


class _Source:
    """The text of a module; `path_of` gives the file of any."""

    def __init__(self, module: str, path_of: Callable[[str], str]) -> None:
        self._path_of = path_of
        self._statements = _parsed(path_of(module)).body

    def ports(self, name: str) -> dict[str, ast.expr]:
        """What the signature of a class of this module has; none, if the class does not make it itself."""
        for statement in self._statements:
            if isinstance(statement, ast.ClassDef) and statement.name == name:
                for method in statement.body:
                    if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                        return dict(self._of_constructor(method))
        return {}

    def _of_constructor(self, function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
        for node in ast.walk(function):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"), args=[members, *_]
                ):
                    yield from self._followed(members, function)

    def _followed(self, node: ast.expr, function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
        """The members of a dictionary that an expression in a function is."""
        match node:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    yield from self._followed(value, function) if key is None else [(_text(key), value)]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right) | ast.IfExp(body=left, orelse=right):
                yield from self._followed(left, function)
                yield from self._followed(right, function)
            case ast.Name(id=name):
                yield from self._assigned(name, function)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[keys, value]):
                yield from ((key, value) for key in _texts(keys))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                # A function that computes names has been given them.
                given = [text for argument in arguments for text in _texts(argument, or_none=True)]
                yield from ((text, node) for text in given) if given else self._returned(name)
            case _:
                raise _ComputedError

    def _assigned(self, name: str, function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
        """The members of a variable, by what the function assigns to it."""
        is_known = False
        for statement in ast.walk(function):
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=found)], value=ast.expr() as value)
                    | ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value)
                    | ast.AugAssign(target=ast.Name(id=found), value=value)
                ) if found == name:
                    is_known = True
                    yield from self._followed(value, function)
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=key)], value=value) if (
                    found == name
                ):
                    yield _text(key), value
        if not is_known:
            raise _ComputedError

    def _returned(self, name: str) -> Iterator[tuple[str, ast.expr]]:
        """The members of a dictionary that a function gives."""
        source, function = self._function(name)
        for statement in ast.walk(function):
            if isinstance(statement, ast.Return) and statement.value is not None:
                yield from source._followed(statement.value, function)

    def _function(self, name: str) -> tuple["_Source", ast.FunctionDef]:
        """A function by its name here, and the module that has it."""
        for statement in self._statements:
            match statement:
                case ast.FunctionDef(name=found) if found == name:
                    return self, statement
                case ast.ImportFrom(module=str(module), names=aliases) if any(each.name == name for each in aliases):
                    return _Source(module, self._path_of)._function(name)
        raise _ComputedError


@cache
def _parsed(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text())


def _text(key: ast.expr) -> str:
    (text,) = _texts(key)
    return text


def _texts(node: ast.expr, *, or_none: bool = False) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return [_text(element) for element in elements]
    if or_none:
        return []
    raise _ComputedError


class HardwareTypes(Plugin):
    """What amaranth-stubs cannot say."""

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None]:
        """Give each component its ports."""
        return self._add_ports

    def _add_ports(self, context: ClassDefContext) -> None:
        info = context.cls.info
        if info.fullname == _COMPONENT or not _is_a(info, _COMPONENT):
            return
        modules = context.api.modules
        shadows = {Path(path).absolute(): shadow for path, shadow in self.options.shadow_file or ()}

        def path_of(module: str) -> str:
            path = Path(modules[module].path).absolute()
            return shadows.get(path, str(path))

        try:
            ports = _Source(info.module_name, path_of).ports(info.name)
        except _ComputedError:
            info.metadata[_COMPUTES] = {}
            return
        for name, member in ports.items():
            if name not in info.names:
                add_attribute_to_class(context.api, context.cls, name, _port_type(context, member))

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Classes of Amaranth whose attributes amaranth-stubs leaves out."""
        if fullname in (_COMPONENT, _INTERFACE):
            return _open
        return _complete if fullname in _NOT_IN_STUBS else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """A field of a view is a value; a component that computes names may have any attribute."""
        if fullname.startswith(f"{_COMPONENT}."):
            return _missing_type
        return _field_type if fullname.startswith(_OWN) else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """A signal of a layout is a view; a memory has rows of any shape."""
        if fullname == _MEMORY:
            return _memory_type
        return _signal_type if fullname == _SIGNAL else None

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """The message of a property may be left out."""
        return _without_message if fullname in _PROPERTIES else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        """A constant of a layout has its fields, and is made of fields of any types."""
        found = _CONST.fullmatch(fullname)
        return None if found is None else _constant if found[1] == "const" else _constant_of_bits

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """A signal like a view is one."""
        return _like_type if fullname == f"{_SIGNAL}.like" else None


def _open(context: ClassDefContext) -> None:
    _complete(context)
    argument = Argument(Var("name"), context.api.named_type("builtins.str"), None, ARG_POS)
    add_method_to_class(context.api, context.cls, "__getattr__", [argument], _ANY)


def _complete(context: ClassDefContext) -> None:
    for name in _NOT_IN_STUBS.get(context.cls.info.fullname, ()):
        add_attribute_to_class(context.api, context.cls, name, _ANY)


def _missing_type(context: AttributeContext) -> Type:
    """Of an attribute that no class declares: an error, unless the component computes names, or its class is open."""
    owner = get_proper_type(context.type)
    if not isinstance(owner, Instance) or not isinstance(context.context, MemberExpr):
        return _ANY
    is_open = owner.type.fullname == _COMPONENT or any(_COMPUTES in base.metadata for base in owner.type.mro)
    if not is_open and context.context.name != "signature":
        problem = f'"{owner.type.name}" has no port or attribute "{context.context.name}"'
        context.api.fail(problem, context.context, code=ATTR_DEFINED)
    return _ANY


def _port_type(context: ClassDefContext, member: ast.expr) -> Type:
    """A bit is a signal; of other ports neither width nor layout is known here."""
    match member:
        case ast.Call(func=ast.Name(id="In" | "Out"), args=[ast.Constant(value=int())]):
            return context.api.named_type_or_none(_SIGNAL) or _ANY
    return _ANY


def _field_type(context: AttributeContext) -> Type:
    """Of a field that is annotated with its width, its enumeration or its layout."""
    owner, found = get_proper_type(context.type), get_proper_type(context.default_attr_type)
    if isinstance(owner, Instance) and _is_a(owner.type, _VIEW):
        is_field = isinstance(found, UnboundType) or (isinstance(found, Instance) and not _is_a(found.type, _VIEW))
        return _ANY if is_field else found
    return context.default_attr_type


def _signal_type(context: FunctionContext) -> Type:
    """What a signal of a shape is."""
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type
    shape = get_proper_type(context.arg_types[0][0])
    if isinstance(shape, CallableType) and shape.is_type_obj() and _is_a(shape.type_object(), _VIEW):
        return shape.ret_type
    if isinstance(shape, Instance) and _is_a(shape.type, _LAYOUT):
        module, _, name = _VIEW.rpartition(".")
        assert isinstance(context.api, TypeChecker)
        view = context.api.modules[module].names[name].node
        return Instance(view, [_ANY]) if isinstance(view, TypeInfo) else _ANY
    return _ANY if isinstance(shape, AnyType) else context.default_return_type


def _memory_type(context: FunctionContext) -> Type:
    found = get_proper_type(context.default_return_type)
    return found.copy_modified(args=[_ANY] * len(found.args)) if isinstance(found, Instance) else found


def _without_message(context: FunctionSigContext) -> FunctionLike:
    kinds = list(context.default_signature.arg_kinds)
    kinds[1] = ARG_OPT
    return context.default_signature.copy_modified(arg_kinds=kinds)


def _constant(context: MethodSigContext) -> FunctionLike:
    """In amaranth-stubs two classes have the name `Const`, and the other one hides that of layouts."""
    return context.default_signature.copy_modified(arg_types=[_ANY], ret_type=_ANY)


def _constant_of_bits(context: MethodSigContext) -> FunctionLike:
    return context.default_signature.copy_modified(ret_type=_ANY)


def _like_type(context: MethodContext) -> Type:
    found = get_proper_type(context.arg_types[0][0])
    is_view = isinstance(found, Instance) and _is_a(found.type, _VIEW)
    return found if is_view or isinstance(found, AnyType) else context.default_return_type


def _is_a(found: TypeInfo, name: str) -> bool:
    return any(base.fullname == name for base in found.mro)


def plugin(version: str) -> type[Plugin]:
    """What mypy calls."""
    return HardwareTypes

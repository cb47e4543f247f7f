"""Scalarisation: a vector becomes the names of its elements.

Cores compute channel by channel, and back ends handle scalars best. Vectors of four floats remain where they are one
thing: as operands and results of functions (fetches, outputs, constants), and as elements of arrays.
"""

import re
from collections.abc import Callable, Iterator
from itertools import count

from ctm.sim.compiler.ir.flow import Flow
from ctm.sim.compiler.ir.module import NAME, Block, Function, Instruction, splatted, split, typed

_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_ELEMENTWISE = re.compile(r"([a-z]+(?: [a-z]+)*) (<\d+ x \w+>) (.*)", re.DOTALL)
_CAST = re.compile(r"(\w+(?: \w+)*) (<\d+ x \w+>|\w+) (.*) to (<\d+ x \w+>|\w+)")
_CALL = re.compile(r"((?:\w+ )*?)call ((?:\w+(?:\([^)]*\))? )*?)(<\d+ x \w+>|\w+) @([-\w.$]+)\((.*)\)(.*)")
_CASTS = ("trunc", "zext", "sext", "fptosi", "fptoui", "sitofp", "uitofp", "fptrunc", "fpext", "bitcast")
_FLOATS = {"float": "i32", "double": "i64", "half": "i16"}
_SCALAR_OPERANDS = ("llvm.abs", "llvm.ctlz", "llvm.cttz", "llvm.powi", "llvm.is.fpclass")
"""Functions of vectors whose second operand is one scalar for all elements."""
_REDUCTIONS = {
    "add": "add {0} {1}, {2}", "mul": "mul {0} {1}, {2}", "and": "and {0} {1}, {2}", "or": "or {0} {1}, {2}",
    "xor": "xor {0} {1}, {2}", "fadd": "fadd {0} {1}, {2}", "fmul": "fmul {0} {1}, {2}",
    **{name: f"call {{0}} @llvm.{called}.{{0}}({{0}} {{1}}, {{0}} {{2}})" for name, called in (
        ("smin", "smin"), ("smax", "smax"), ("umin", "umin"), ("umax", "umax"),
        ("fmin", "minnum"), ("fmax", "maxnum"),
    )},
}  # fmt: skip


def scalarised(function: Function, elements: dict[str, list[str]]) -> tuple[Function, list[str]]:
    """The function without arithmetic on vectors, and declarations of what it calls now.

    `elements` are those of its parameters.
    """
    work = _Scalariser(elements, "v", r"\w+")
    return work.function(function), sorted(work.declarations)


def with_scalar_integers(kernel: Function) -> tuple[Function, list[str]]:
    """The same of a kernel for vectors of integers and of truths alone."""
    assert kernel.pixel is not None
    type_, pixel = kernel.pixel
    size, element = _shape(type_)
    names = [] if element == "float" else [f"%-p.{number}" for number in range(size)]
    work = _Scalariser({pixel: names} if names else {}, "e", r"i\d+")
    found = work.function(kernel)
    found.blocks[0].instructions[:0] = [
        Instruction(name, f"extractelement {type_} {pixel}, i32 {number}") for number, name in enumerate(names)
    ]
    return found, sorted(work.declarations)


class _Scalariser:
    """One function: vectors of the types that `types` matches become scalars whose names begin with `prefix`.

    `elements` are the names of a vector's elements, `aliases` the scalars that others became.
    """

    def __init__(self, elements: dict[str, list[str]], prefix: str, types: str) -> None:
        self.declarations: set[str] = set()
        self._prefix = prefix
        self._types = re.compile(types)
        self._elements = dict(elements)
        self._aliases: dict[str, str] = {}
        self._members: dict[str, dict[str, str]] = {}
        self._numbers = count()
        self._made: list[Instruction] = []
        self._debug_location = ""

    def function(self, function: Function) -> Function:
        flow = Flow(function)
        blocks = {}
        for label in flow.order:
            self._made = []
            for instruction in flow.blocks[label].instructions:
                self._debug_location = instruction.debug_location
                self._take(instruction)
            blocks[label] = self._made
        kept = [block.label for block in function.blocks if block.label in blocks]
        return Function(
            function.head, [Block(label, [self._finished(each) for each in blocks[label]]) for label in kept]
        )

    def _finished(self, instruction: Instruction) -> Instruction:
        """With the operands that are known only now: those of phis, and aliases."""
        text = instruction.text
        if "\0" in text:
            text = re.sub(r"\0(.*?)\0(\d+)\0(\w+)\0(\d+)\0", self._deferred, text)
        return Instruction(instruction.result, re.sub(NAME, self._alias, text), instruction.metadata)

    def _deferred(self, found: re.Match[str]) -> str:
        return self._elements_of(found[1], int(found[2]), found[3])[int(found[4])]

    def _alias(self, found: re.Match[str]) -> str:
        name = found[0]
        while name in self._aliases:
            name = self._aliases[name]
        return name

    def _add(self, text: str) -> str:
        name = f"%-{self._prefix}.{next(self._numbers)}"
        self._made.append(Instruction(name, text, self._debug_location))
        return name

    def _take(self, instruction: Instruction) -> None:
        handler = _HANDLERS.get(instruction.opcode, _Scalariser._each)
        if not self._is_wanted(instruction) or not handler(self, instruction):
            self._made.append(instruction)

    def _is_wanted(self, instruction: Instruction) -> bool:
        """Whether an instruction has vectors that are scalarised."""
        found = [vector[2] for vector in _VECTOR.finditer(instruction.text)]
        if instruction.opcode in ("insertvalue", "extractvalue"):
            return True
        if instruction.opcode == "fcmp":
            return bool(found)
        # The last vector of a shuffle says which elements are meant.
        return any(map(self._types.fullmatch, found[:1] if instruction.opcode == "shufflevector" else found))

    def _result(self, instruction: Instruction, type_: str, elements: list[str]) -> None:
        """Record the elements of a result; one whose type is not scalarised is a vector, too."""
        self._elements[instruction.result] = elements
        if not self._types.fullmatch(_shape(type_)[1]):
            self._aliases[instruction.result] = typed(self._whole(type_, instruction.result))[1]

    def _elements_of(self, value: str, size: int, element: str) -> list[str]:
        """The elements of a vector's text."""
        if value in self._elements:
            return self._elements[value]
        if value.startswith("<"):
            return [typed(each)[1] for each in split(value[1:-1])]
        if (each := splatted(value)) is not None:
            return [typed(each)[1]] * size
        if value == "zeroinitializer":
            return [{"float": "0.000000e+00", "double": "0.000000e+00", "i1": "false"}.get(element, "0")] * size
        if value.startswith("%"):
            return [self._add(f"extractelement <{size} x {element}> {value}, i32 {number}") for number in range(size)]
        return [value] * size

    def _each(self, instruction: Instruction) -> bool:
        """Arithmetic: the same of each element."""
        found = _ELEMENTWISE.fullmatch(instruction.text)
        if found is None:
            return False
        size, element = _shape(found[2])
        columns = [self._elements_of(operand, size, element) for operand in split(found[3])]
        self._elements[instruction.result] = [
            self._add(f"{found[1]} {element} {', '.join(operands)}") for operands in zip(*columns, strict=True)
        ]
        return True

    def _cast(self, instruction: Instruction) -> bool:
        found = _CAST.fullmatch(instruction.text)
        assert found is not None, instruction.text
        (size, source), (new_size, target) = _shape(found[2]), _shape(found[4])
        values = self._elements_of(found[3], size, source) if found[2].startswith("<") else [found[3]]
        if size == new_size:
            made = [self._add(f"{found[1]} {source} {value} to {target}") for value in values]
        else:
            made = list(self._regrouped(values, source, new_size, target))
        if found[4].startswith("<"):
            self._result(instruction, found[4], made)
        else:
            self._aliases[instruction.result] = made[0]
        return True

    def _regrouped(self, values: list[str], source: str, size: int, target: str) -> Iterator[str]:
        """The same bits as elements of another width, the lowest first."""
        narrow, wide = _FLOATS.get(source, source), _FLOATS.get(target, target)
        if source in _FLOATS:
            values = [self._add(f"bitcast {source} {value} to {narrow}") for value in values]
        bits, new_bits = int(narrow[1:]), int(wide[1:])
        for position in range(size):
            if new_bits > bits:
                share = new_bits // bits
                whole = "0"
                for number, value in enumerate(values[position * share : (position + 1) * share]):
                    shifted = self._add(f"zext {narrow} {value} to {wide}")
                    shifted = self._add(f"shl {wide} {shifted}, {number * bits}") if number else shifted
                    whole = self._add(f"or {wide} {whole}, {shifted}") if number else shifted
            else:
                share = bits // new_bits
                shifted = self._add(f"lshr {narrow} {values[position // share]}, {position % share * new_bits}")
                whole = self._add(f"trunc {narrow} {shifted} to {wide}")
            yield self._add(f"bitcast {wide} {whole} to {target}") if target in _FLOATS else whole

    def _extract(self, instruction: Instruction) -> bool:
        (type_, vector), (_, index) = map(typed, split(instruction.text.split(" ", 1)[1]))
        size, element = _shape(type_)
        elements = self._elements_of(vector, size, element)
        self._aliases[instruction.result] = elements[int(index)] if index.isdecimal() else self._chosen(
            elements, element, index
        )  # fmt: skip
        return True

    def _chosen(self, elements: list[str], element: str, index: str) -> str:
        """An element by a computed index: the first one for an index that there is not."""
        found = elements[0]
        for number, each in enumerate(elements[1:], 1):
            here = self._add(f"icmp eq i32 {index}, {number}")
            found = self._add(f"select i1 {here}, {element} {each}, {element} {found}")
        return found

    def _insert(self, instruction: Instruction) -> bool:
        (type_, vector), (element, value), (_, index) = map(typed, split(instruction.text.split(" ", 1)[1]))
        elements = list(self._elements_of(vector, *_shape(type_)))
        if index.isdecimal():
            elements[int(index)] = value
        else:
            for number, each in enumerate(elements):
                here = self._add(f"icmp eq i32 {index}, {number}")
                elements[number] = self._add(f"select i1 {here}, {element} {value}, {element} {each}")
        self._elements[instruction.result] = elements
        return True

    def _insert_member(self, instruction: Instruction) -> bool:
        """A member of a struct: remembered, and kept for what does not only take it out again."""
        words = instruction.text.split(" ", 1)[1]
        whole, (_, value), *path = split(words)[0], typed(split(words)[1]), *split(words)[2:]
        self._members[instruction.result] = {**self._members.get(whole.split(" ")[-1], {}), ",".join(path): value}
        return False

    def _extract_member(self, instruction: Instruction) -> bool:
        whole, *path = split(instruction.text.split(" ", 1)[1])
        value = self._members.get(whole.split(" ")[-1], {}).get(",".join(path))
        if value is not None:
            self._aliases[instruction.result] = value
        return value is not None

    def _shuffle(self, instruction: Instruction) -> bool:
        (type_, first), (_, second), (mask_type, mask) = map(typed, split(instruction.text.split(" ", 1)[1]))
        both = self._elements_of(first, *_shape(type_)) + self._elements_of(second, *_shape(type_))
        chosen = self._elements_of(mask, *_shape(mask_type))
        self._elements[instruction.result] = [both[int(each)] if each.isdecimal() else "poison" for each in chosen]
        return True

    def _select(self, instruction: Instruction) -> bool:
        words, operands = _leading_words(instruction.text)
        (condition_type, condition), (type_, one), (_, other) = map(typed, split(operands))
        size, element = _shape(type_)
        conditions = [condition] * size if condition_type == "i1" else self._elements_of(condition, size, "i1")
        both = self._elements_of(one, size, element), self._elements_of(other, size, element)
        rows = zip(conditions, *both, strict=True)
        self._result(instruction, type_, [
            self._add(f"{words} i1 {if_}, {element} {yes}, {element} {no}") for if_, yes, no in rows
        ])  # fmt: skip
        return True

    def _phi(self, instruction: Instruction) -> bool:
        words, operands = _leading_words(instruction.text)
        type_ = operands[: operands.index(">") + 1]
        size, element = _shape(type_)
        names = []
        for number in range(size):
            # Operands may be of blocks that are still to come.
            deferred = (
                f"[ \0{value}\0{size}\0{element}\0{number}\0, {label} ]" for value, label in instruction.incoming
            )
            names.append(self._add(f"{words} {element} {', '.join(deferred)}"))
        self._elements[instruction.result] = names
        return True

    def _call(self, instruction: Instruction) -> bool:
        found = _CALL.fullmatch(instruction.text)
        if found is None:
            return False
        name, operands = found[4], [typed(operand) for operand in split(found[5])]
        if name.startswith("llvm.vector.reduce."):
            return self._reduce(instruction, name.split(".")[3], operands)
        base = re.sub(r"(\.v\d+\w+)+$", "", name)
        if base != name and name.startswith("llvm.") and found[3].startswith("<"):
            return self._called_each(instruction, base, found[3], operands)
        values = [self._whole(*operand) for operand in operands]
        text = f"{found[1]}call {found[2]}{found[3]} @{name}({', '.join(values)}){found[6]}"
        self._with_elements(Instruction(instruction.result, text, instruction.metadata), found[3])
        return True

    def _called_each(self, call: Instruction, base: str, type_: str, operands: list[tuple[str, str]]) -> bool:
        size, element = _shape(type_)
        columns = []
        for number, (operand_type, value) in enumerate(operands):
            if operand_type.startswith("<"):
                inner = _shape(operand_type)[1]
                columns.append([f"{inner} {each}" for each in self._elements_of(value, size, inner)])
            elif number and base.startswith(_SCALAR_OPERANDS):
                columns.append([f"{operand_type} {value}"] * size)
            else:
                return False
        types = [_shape(operand_type)[1] for operand_type, _ in operands]
        suffix = _name(element) + (f".{types[1]}" if base == "llvm.powi" else "")
        suffix += f".{_name(types[0])}" if base.startswith(("llvm.fptosi.sat", "llvm.fptoui.sat")) else ""
        self.declarations.add(f"declare {element} @{base}.{suffix}({', '.join(types)})")
        self._elements[call.result] = [
            self._add(f"call {element} @{base}.{suffix}({', '.join(row)})") for row in zip(*columns, strict=True)
        ]
        return True

    def _reduce(self, call: Instruction, kind: str, operands: list[tuple[str, str]]) -> bool:
        type_, vector = operands[-1]
        size, element = _shape(type_)
        elements = [*(value for _, value in operands[:-1]), *self._elements_of(vector, size, element)]
        form = _REDUCTIONS.get(kind)
        if form is None:
            return False
        if form.startswith("call"):
            form = form.replace(".{0}(", f".{_name(element)}(")
            called = re.search(r"@[\w.]+", form)
            assert called is not None
            self.declarations.add(f"declare {element} {called[0]}({element}, {element})")
        found = elements[0]
        for each in elements[1:]:
            found = self._add(form.format(element, found, each))
        self._aliases[call.result] = found
        return True

    def _load(self, instruction: Instruction) -> bool:
        found = _VECTOR.search(instruction.text)
        assert found is not None
        self._with_elements(instruction, found[0])
        return True

    def _store(self, instruction: Instruction) -> bool:
        words, tail = _leading_words(instruction.text)
        operands = split(tail)
        value = self._whole(*typed(operands[0]))
        self._made.append(Instruction("", f"{words} {', '.join([value, *operands[1:]])}", instruction.metadata))
        return True

    def _keep(self, instruction: Instruction) -> bool:
        del instruction
        return False

    def _with_elements(self, instruction: Instruction, type_: str) -> None:
        """Add an instruction whose result may be a vector, and the extraction of its elements."""
        self._made.append(instruction)
        if type_.startswith("<"):
            size = _shape(type_)[0]
            self._elements[instruction.result] = [
                self._add(f"extractelement {type_} {instruction.result}, i32 {number}") for number in range(size)
            ]

    def _whole(self, type_: str, value: str) -> str:
        """An operand that has to be a vector, with its type."""
        if type_.startswith("<") and value in self._elements:
            size, element = _shape(type_)
            elements, value = self._elements_of(value, size, element), "poison"
            for number, each in enumerate(elements):
                if each != "poison":
                    value = self._add(f"insertelement {type_} {value}, {element} {each}, i32 {number}")
        return f"{type_} {value}"


_HANDLERS: dict[str, Callable[[_Scalariser, Instruction], bool]] = {
    **dict.fromkeys(_CASTS, _Scalariser._cast),
    "extractelement": _Scalariser._extract,
    "insertelement": _Scalariser._insert,
    "insertvalue": _Scalariser._insert_member,
    "extractvalue": _Scalariser._extract_member,
    "shufflevector": _Scalariser._shuffle,
    "select": _Scalariser._select,
    "phi": _Scalariser._phi,
    "call": _Scalariser._call,
    "load": _Scalariser._load,
    "store": _Scalariser._store,
    "alloca": _Scalariser._keep,
    "getelementptr": _Scalariser._keep,
}


def _shape(type_: str) -> tuple[int, str]:
    found = _VECTOR.fullmatch(type_)
    return (int(found[1]), found[2]) if found else (1, type_)


def _name(element: str) -> str:
    """A type in a function's name."""
    return {"float": "f32", "double": "f64"}.get(element, element)


def _leading_words(text: str) -> tuple[str, str]:
    """The opcode and its flags, and the text after them."""
    found = re.match(r"((?:phi|select|store)(?: (?!i1\b)[a-z]+\b(?! ?\())*) (.*)", text, re.DOTALL)
    assert found is not None, text
    return found[1], found[2]

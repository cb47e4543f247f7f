"""Names in Verilog that every tool takes and a person can type.

Yosys writes a name that is none in Verilog after a backslash, and there some tools go wrong; it also has dots and
brackets, which in a path look as if they were its own. Here ``ctm.machine`` becomes ``ctm__machine``, ``words[3].sign``
``words__3__sign``, ``$44``, which the sources do not name, ``_44``, and a keyword gets an underscore at its end.
"""

import re
from collections.abc import Set

from ctm.sim.compiled.rewriting.keywords import FOREIGN, KEYWORDS
from ctm.sim.compiled.rewriting.modules import INSTANCE, MODULE

_ESCAPED = re.compile(r"\\(\S+) ")
_PLAIN = re.compile(r"(?<![\w$\\'.])[A-Za-z_][\w$]*")
_FOREIGN = re.compile(rf"(?<![\w$\\'])(?:{'|'.join(sorted(FOREIGN))})(?![\w$])")
_OTHER = re.compile(r"[^A-Za-z0-9_$]")
_DECLARATION = re.compile(
    r"^  (?:wire|reg|integer|input|output|inout) (?:signed )?(?:\[\d+:0\] )?([\w$]+)", re.MULTILINE
)
_SEPARATOR = re.compile(r"\]?[.\[]|\]")


def with_plain_names(verilog: str) -> str:
    """The same Verilog without escaped names, each name the same wherever it stands."""
    plain: dict[str, str] = {}
    taken = set(KEYWORDS)
    taken.update(_PLAIN.findall(_ESCAPED.sub(" ", verilog)))

    def renamed(name: str) -> str:
        if name not in plain:
            plain[name] = _free(_plain(name), taken)
            taken.add(plain[name])
        return plain[name]

    verilog = _FOREIGN.sub(lambda match: f"\\{match[0]} ", verilog)
    return _ESCAPED.sub(lambda match: renamed(match[1]), verilog)


def _plain(name: str) -> str:
    name = _OTHER.sub("_", _SEPARATOR.sub("__", name.rstrip("]")))
    return name if _PLAIN.match(name) else f"_{name.lstrip('$')}"


def _free(name: str, taken: Set[str]) -> str:
    """The name, with as many underscores after it as make it unique."""
    while name in taken:
        name += "_"
    return name


def with_instances_apart(verilog: str) -> str:
    """The same Verilog, written with plain names, no instance called as something in it."""
    inside = {module[1]: frozenset(_DECLARATION.findall(module[0])) for module in MODULE.finditer(verilog)}

    def module(text: re.Match[str]) -> str:
        taken = {*inside[text[1]], *(instance[2] for instance in INSTANCE.finditer(text[0]))}

        def instance(match: re.Match[str]) -> str:
            own = inside.get(match[1], frozenset())
            name = _free(match[2], own | taken) if match[2] in own else match[2]
            taken.add(name)
            return f"  {match[1]} {name} (\n"

        return INSTANCE.sub(instance, text[0])

    return MODULE.sub(module, verilog)

"""Modules whose instances share their code in a model that Verilator makes.

Verilator puts a copy of a module's code where each instance is. A cycle runs through all of that, and it is larger than
a processor's instruction cache. So for a large module with several instances one function, called for each instance, is
faster, although its ports are then copied.
"""

from collections import Counter
from functools import cache

from ctm.sim.compiled.rewriting.modules import INSTANCE, MODULE

_LEAST_LINES = 3_000
"""Lines of Verilog from which on a module is large, with all that is in it. A model of R700 lanes gains 6 % of speed
from slots that share their code, nothing from their lanes or from smaller units, and loses 2 % with slots and lanes."""


def shared_modules(verilog: str, top: str) -> list[str]:
    """Of modules that have several instances and are large those that have no such module in them.

    `verilog` is what `from_rtlil` writes.
    """
    texts = {module[1]: module[0] for module in MODULE.finditer(verilog)}
    inside = {
        name: [found[1] for found in INSTANCE.finditer(text) if found[1] in texts] for name, text in texts.items()
    }
    instances: Counter[str] = Counter()

    def count(name: str) -> None:
        instances[name] += 1
        for inner in inside[name]:
            count(inner)

    @cache
    def lines(name: str) -> int:
        return texts[name].count("\n") + sum(map(lines, inside[name]))

    @cache
    def is_large(name: str) -> bool:
        return instances[name] > 1 and lines(name) >= _LEAST_LINES

    @cache
    def has_large(name: str) -> bool:
        return any(is_large(inner) or has_large(inner) for inner in inside[name])

    if top in texts:
        count(top)
    return sorted(name for name in instances if is_large(name) and not has_large(name))


def settings(verilog: str, top: str) -> str:
    """Verilator's control file that says so."""
    lines = (f'no_inline -module "{name}"' for name in shared_modules(verilog, top))
    return "\n".join(("`verilator_config", *lines, ""))

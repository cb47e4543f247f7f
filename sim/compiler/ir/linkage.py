"""Which names of a module LLVM has to keep: those of kernels."""

import re

_VARIABLE = re.compile(r"^(@\S+ = )(?:dso_local )?((?:addrspace\(\d+\) )?(?:global|constant) )", re.MULTILINE)
_FUNCTION = re.compile(r"^define dso_local (?!.* section \"ctm\.kernel\")", re.MULTILINE)


def with_own_names(text: str) -> str:
    """The text of a module whose functions and variables are its own, but for kernels: as if they were `static`.

    LLVM removes functions after it inlined all calls, and replaces variables without a store by their values.
    """
    return _FUNCTION.sub("define internal ", _VARIABLE.sub(r"\1internal \2", text))

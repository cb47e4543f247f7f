"""Which names of a module LLVM has to keep: those of kernels."""

import re

_VARIABLE = re.compile(r"^(@\S+ = )(?:dso_local )?((?:addrspace\(\d+\) )?(?:global|constant) )", re.MULTILINE)
_FUNCTION = re.compile(r"^define dso_local (?!.* section \"ctm\.kernel\")", re.MULTILINE)


def with_own_names(text: str) -> str:
    """The text of a module whose functions and variables are its own, but for kernels: as if they were `static`.

    LLVM inlines what nobody else calls, and knows what a variable holds that nobody else writes.
    """
    return _FUNCTION.sub("define internal ", _VARIABLE.sub(r"\1internal \2", text))

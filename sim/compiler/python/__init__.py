"""Kernels in Python become kernels in C: a function's syntax tree is translated, and nothing of it is executed."""

from ctm.sim.compiler.python.error import Problem
from ctm.sim.compiler.python.messages import in_words_of_python
from ctm.sim.compiler.python.parameters import Parameter
from ctm.sim.compiler.python.scope import Definition, definition
from ctm.sim.compiler.python.translation import (
    Signature,
    Translation,
    kernel_parameters,
    translate_definition,
    translate_source,
)
from ctm.sim.compiler.python.values import Constant, Picture, Table, Type

__all__ = [
    "Constant",
    "Definition",
    "Parameter",
    "Picture",
    "Problem",
    "Signature",
    "Table",
    "Translation",
    "Type",
    "definition",
    "in_words_of_python",
    "kernel_parameters",
    "translate_definition",
    "translate_source",
]

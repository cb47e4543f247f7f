"""Kernels whose nodes were exchanged at random are translated or rejected with a line and a sentence."""

import ast
import copy
import random
import re

import pytest

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.python import translate_source
from ctm.sim.compiler.source import Source
from ctm.tb.compiler.python.random_kernels import PRELUDE, RandomPythonKernel

_OPERATORS = (ast.Add, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.LShift, ast.MatMult)


def is_read(node: object) -> bool:
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


class Mutations:
    """Sources whose expressions, statements and operators are exchanged with each other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        texts = [PRELUDE + RandomPythonKernel(seed, bits=True).text("k") for seed in range(20)]
        self._trees = [ast.parse(text) for text in texts]
        nodes = [node for tree in self._trees for node in ast.walk(tree)]
        self._expressions = [node for node in nodes if is_read(node)]
        self._statements = [node for node in nodes if isinstance(node, ast.Assign | ast.If | ast.For | ast.Return)]

    def next(self) -> str:
        tree = copy.deepcopy(self._random.choice(self._trees))
        nodes = [node for each in tree.body if isinstance(each, ast.FunctionDef) for node in ast.walk(each)]
        for node in self._random.sample(nodes, 3):
            for field, value in ast.iter_fields(node):
                if is_read(value):
                    setattr(node, field, copy.deepcopy(self._random.choice(self._expressions)))
                elif isinstance(value, ast.operator):
                    setattr(node, field, self._random.choice(_OPERATORS)())
                elif field == "body" and isinstance(value, list):
                    value[self._random.randrange(len(value))] = copy.deepcopy(self._random.choice(self._statements))
        return ast.unparse(ast.fix_missing_locations(tree))


def run(seed: int, count: int, compiled: float) -> int:
    """How many of these are rejected; a share of the others is compiled, too."""
    mutations, draw = Mutations(seed), random.Random(seed)
    rejected = 0
    for _ in range(count):
        source = Source(mutations.next(), "k.py")
        try:
            translate_source(source, "k")
            if draw.random() < compiled:
                compile_kernel(source, isa=draw.choice(["r700", "r5xx"]))
        except KernelError as error:
            assert re.fullmatch(r"k\.py:\d+: \S.*", str(error).splitlines()[0]), error
            rejected += 1
    return rejected


@pytest.mark.slow
def test_a_few() -> None:
    assert 20 < run(1, 150, 0.05) < 150


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 15))
def test_many(seed: int) -> None:
    assert run(seed, 1000, 0.2)

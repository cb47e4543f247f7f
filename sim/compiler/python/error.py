"""Errors of the translation of kernels in Python."""

import ast


class UnsupportedError(Exception):
    """Code of a function that kernels cannot have; the message says what to write instead."""

    def __init__(self, node: ast.AST, message: str) -> None:
        super().__init__(message)
        self.line: int = getattr(node, "lineno", 1)
        self.file = ""


class Problem(Exception):  # noqa: N818
    """A problem without a location; its catcher adds the node and raises `UnsupportedError`."""

"""How the translation of a kernel ends that cannot be translated."""

import ast


class Refusal(Exception):  # noqa: N818 - it is no fault of the program
    """What is wrong with a part of a function; the message says what to write instead."""

    def __init__(self, node: ast.AST, message: str) -> None:
        super().__init__(message)
        self.line: int = getattr(node, "lineno", 1)
        self.file = ""


class Problem(Exception):  # noqa: N818
    """What is wrong, where the one who knows the place makes a `Refusal` of it."""

"""What is seen in the syntax tree of a kernel, before anything is translated."""

import ast

from ctm.sim.compiler.python.error import UnsupportedError


def new_list(node: ast.expr) -> tuple[list[ast.expr], ast.expr | None] | None:
    """The items of a new list, and how many times; None if it is no list."""
    match node:
        case ast.List(elts=items):
            return items, None
        case ast.BinOp(left=ast.List(elts=items), op=ast.Mult(), right=times):
            return items, times
        case ast.BinOp(left=times, op=ast.Mult(), right=ast.List(elts=items)):
            return items, times
    return None


def stored_names(statements: list[ast.stmt]) -> set[str]:
    """The names that statements give values, which makes them the function's own."""
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def check_else(node: ast.For | ast.While) -> None:
    """UnsupportedError if a loop has an `else`."""
    if node.orelse:
        raise UnsupportedError(
            node.orelse[0], "else of a loop: set a variable before break, and test it after the loop"
        )

"""Shorter dependence chains through the operations of a clause, which compute the same bits."""

from ctm.rtl.isa.r700.alu import Op2, Op3
from ctm.rtl.isa.r700.operations import OPERATIONS, Slots
from ctm.sim.compiler.r700.order.operations import Lifted, Node, Value

_PRODUCT_FIELDS = ("src0_abs", "src1_abs", "omod", "clamp", "pred_sel")
_OP2_FIELDS = ("update_execute_mask", "update_pred", "write_mask", "omod")
"""What an instruction of three operands has not."""
_SUM_FIELDS = ("src0_abs", "src1_abs", "omod")


def shorten(clause: Lifted) -> None:
    """Do without copies, and with sums of products in one, where that costs nothing."""
    _without_copies(clause)
    _with_products(clause)
    clause.without_the_unneeded()


def _without_copies(clause: Lifted) -> None:
    """Results are written directly to the target of their copy, or recomputed, where that component is dead."""
    for copy, node in clause.copies:
        if node.operation.is_reduction or node.after:
            continue
        if node.final is None and not any(_follows(reader, node) for reader in copy.before):
            node.final, node.before = copy.final, node.before | copy.before - {node}
            clause.nodes.remove(copy)
        elif node.operation.slots is Slots.ANY and _read_too(clause, copy, node):
            copy.operation, copy.members, copy.reads = node.operation, node.members, node.reads


def _read_too(clause: Lifted, node: Node, other: Node) -> bool:
    """Let an operation read what registers held at first and another one reads, if it is still there."""
    writers = {each.final: each for each in clause.nodes if each.final is not None}
    components = {entry.component for entry in other.entries}
    if any(where in clause.held and where in writers for where in components):
        return False
    overwriting = [writers[where] for where in components if where in writers]
    if any(each is not node and _follows(node, each) for each in overwriting):
        return False
    for each in overwriting:
        each.before |= {node} - {each}
    for where in components:
        clause.readers[where].append(node)
    return True


def _follows(node: Node, other: Node) -> bool:
    """Whether an operation comes after another."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += [*each.sources, *each.before, *each.after]
    return other in seen and other is not node


def _with_products(clause: Lifted) -> None:
    """A sum that waits for a product only multiplies itself: MULADD rounds the product and the sum, each by itself."""
    depths: dict[Node, int] = {}
    for node in clause.nodes:
        if node.operation.code is Op2.ADD and not any(node.members[0][name] for name in _SUM_FIELDS):
            ranks = [_depth(depths, value) for value in node.reads[0]]
            if ranks[0] != ranks[1]:
                _multiply(clause, node, ranks.index(max(ranks)))
        depths[node] = 1 + max((_depth(depths, each) for each in [*node.sources, *node.after]), default=0)


def _depth(depths: dict[Node, int], value: Value) -> int:
    return depths.get(value, 0) if isinstance(value, Node) else 0


def _multiply(clause: Lifted, node: Node, number: int) -> None:
    """Let a sum compute the product that is one of its operands, if it is one and that is possible."""
    product, other = node.reads[0][number], node.reads[0][1 - number]
    assert isinstance(product, Node)
    if product.operation.code is not Op2.MUL_IEEE or any(product.members[0][name] for name in _PRODUCT_FIELDS):
        return
    if not _read_too(clause, node, product):
        return
    old, factors = node.members[0], product.members[0]
    fields = {name: value for name, value in old.items() if not name.startswith("src") and name not in _OP2_FIELDS}
    fields |= {
        "has_three": 1,
        "alu_inst": Op3.MULADD_IEEE.value,
        "src0_rel": 0, "src1_rel": 0, "src2_rel": 0,
        "src0_neg": factors["src0_neg"] ^ old[f"src{number}_neg"],
        "src1_neg": factors["src1_neg"],
        "src2_neg": old[f"src{1 - number}_neg"],
    }  # fmt: skip
    node.operation = OPERATIONS[Op3.MULADD_IEEE]
    node.members = [fields]
    node.reads = [[*product.reads[0], other]]

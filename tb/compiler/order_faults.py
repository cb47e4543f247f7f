"""Single mistakes in the compiler's order of R700 clauses that random clauses must show."""

from ctm.tb.lib.planting import faults_in

FAULTS = [
    *faults_in(
        "sim.compiler.r700.order.lifting",
        ('("src0_neg", "src0_abs", "omod", "clamp", "pred_sel")', '("src0_neg", "src0_abs", "clamp", "pred_sel")'),
        ('("src0_neg", "src0_abs", "omod", "clamp", "pred_sel")', '("src0_abs", "omod", "clamp", "pred_sel")'),
        ("node.before |= {reader for reader in shared.readers if reader is not node}", ""),
        ("            self._gated.append(node)\n", ""),
        ("if each.destination in self._shared:", "if False:"),
        ("frozenset(set(live) - {node.final for node in result.nodes}) |", "frozenset() |"),
        ("node.before.update(reader for reader in result.readers.get(node.final, ()) if reader is not node)", "pass"),
        ("modifiers = {tuple(each.fields[name]", "modifiers = {tuple(0 and each.fields[name]"),
    ),
    *faults_in(
        "sim.compiler.r700.order.liveness",
        ("live != after[word.address]", "False"),
        ("if select < CHANNELS)\n\n\ndef _fetched", "if select == 0)\n\n\ndef _fetched"),
    ),
    *faults_in(
        "sim.compiler.r700.order.ports",
        ("cycles[number] < constants and not each.is_constant", "False"),
        ("> CONSTANT_PAIRS", "> 3"),
        ("ports.get(port, register) != register", "False"),
        ("> TRANS_CONSTANTS", "> 3"),
        ("> GROUP_LITERALS", "> 8"),
    ),
    *faults_in(
        "sim.compiler.r700.order.schedule",
        ("if group == len(self.groups) - 2:", "if group == len(self.groups) - 3:"),
        ("each in self._at for each in node.before", "True for each in node.before"),
        ("self._finals and where not in self._held", "self._finals"),
        ("where not in self._finals and", ""),
        ("return any(other.sets_predicate or other.kills for other in others)", "return False"),
        ("return operation.kills and any(other.sets_predicate for other in others)", "return False"),
    ),
    *faults_in(
        "sim.compiler.r700.order.shortening",
        ('factors["src0_neg"] ^ old[f"src{number}_neg"]', 'factors["src0_neg"]'),
        ('"src2_neg": old[f"src{1 - number}_neg"]', '"src2_neg": 0'),
    ),
    *faults_in(
        "sim.compiler.r700.order.encoding",
        ("if operand.literal not in literals:", "if True:"),
        ('"last": int(slot == slots[-1])', '"last": 0'),
    ),
]

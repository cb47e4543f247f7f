"""LLVM's optimisations one by one, by llvmlite: those that keep a kernel's loops and conditions as they were."""

import re
from collections.abc import Sequence

from ctm.sim.compiled.tools.package import Package
from ctm.sim.compiler.error import BackEndError

LLVM = Package("llvmlite", "llvmlite", "kernels")
_UNROLL = ("loop_simplify", "lcssa", "loop_rotate", "loop_unroll")
"""Where the source asks for it; of a loop with `continue` the first one makes two, one in the other."""
_INLINE = ("always_inliner", "sroa")
_AGAIN = ("global_opt", "tail_call_elimination", "always_inliner", "sroa", "tail_call_elimination", "always_inliner")
"""Tail recursion becomes loops, calls through constant pointers are inlined, variables without stores are constants."""
_FOLD = (
    "sroa", "sccp", "new_gvn", "sroa", "sccp", "new_gvn", "aggressive_dce", "lower_switch", "dead_code_elimination",
)  # fmt: skip
_LEFT = re.compile(r"^(?:define internal |@.* global )", re.MULTILINE)
"""A function that is called, or a variable."""
_COMBINE = (
    "sroa", "simplify_cfg", "instruction_combine", "new_gvn", "sccp", "aggressive_dce", "unify_function_exit_nodes",
    "simplify_cfg", "instruction_combine", "lcssa", "dead_code_elimination",
)  # fmt: skip


def inlined(text: str) -> str:
    """The text of a module whose functions are one each, with the operations of the source; errors as `combined`."""
    text = _optimised(text, (*_INLINE, *(_UNROLL if '"llvm.loop.unroll.' in text else ()), *_FOLD))
    return _optimised(text, (*_AGAIN, *_FOLD)) if _LEFT.search(text) else text


def combined(text: str) -> str:
    """The text of a module with other operations where these are fewer.

    Raises
    ------
    BackEndError
        LLVM does not take it.
    ToolchainError
        llvmlite is missing.
    """
    return _optimised(text, _COMBINE)


def _optimised(text: str, passes: Sequence[str]) -> str:
    LLVM.require()
    from llvmlite import binding

    binding.initialize_all_targets()
    try:
        module = binding.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        # Passes would end the process.
        raise BackEndError(str(error)) from None
    machine = binding.Target.from_triple("r600--").create_target_machine(cpu="rv770")
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(2))
    manager = binding.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
    return str(module)

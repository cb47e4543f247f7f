"""LLVM's optimisations one by one, by llvmlite: those that keep a kernel's loops and conditions as they were."""

from collections.abc import Sequence

from ctm.sim.compiled.tools.package import Package
from ctm.sim.compiler.error import BackEndError

LLVM = Package("llvmlite", "llvmlite", "kernels")
INLINE = (
    "always_inliner", "sroa", "loop_simplify", "lcssa", "loop_rotate", "loop_unroll", "sroa", "sccp", "new_gvn", "sroa",
    "sccp", "new_gvn", "aggressive_dce", "lower_switch", "dead_code_elimination",
)  # fmt: skip
"""Leaves one function, its loops unrolled where the source asks for it, with the operations of the source."""
COMBINE = (
    "sroa", "simplify_cfg", "instruction_combine", "new_gvn", "sccp", "aggressive_dce", "unify_function_exit_nodes",
    "simplify_cfg", "instruction_combine", "loop_simplify", "lcssa", "dead_code_elimination",
)  # fmt: skip
"""Makes other operations of them where that is shorter."""
_UNROLL = ("loop_rotate", "loop_unroll")


def optimised(text: str, passes: Sequence[str]) -> str:
    """The text of a module after these passes; loops are unrolled only where the source asks for it.

    Raises
    ------
    BackEndError
        LLVM does not take it.
    ToolchainError
        llvmlite is missing.
    """
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
        if name not in _UNROLL or '"llvm.loop.unroll.' in text:
            getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
    return str(module)

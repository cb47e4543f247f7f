"""LLVM's optimisations one by one, by llvmlite: those that keep a kernel's loops and conditions as they were."""

from ctm.sim.compiled.tools.package import Package
from ctm.sim.compiler.error import BackEndError

LLVM = Package("llvmlite", "llvmlite", "kernels")
_FIRST = ("always_inliner", "sroa", "simplify_cfg", "instruction_combine")
_UNROLL = ("loop_simplify", "lcssa", "loop_rotate", "loop_unroll", "sroa", "simplify_cfg", "instruction_combine")
"""Where the source asks for it."""
_REST = (
    "new_gvn", "sccp", "aggressive_dce", "lower_switch", "unify_function_exit_nodes", "simplify_cfg",
    "instruction_combine", "loop_simplify", "lcssa", "dead_code_elimination",
)  # fmt: skip


def optimised(text: str) -> str:
    """The text of a module after these passes.

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
    for name in (*_FIRST, *(_UNROLL if '"llvm.loop.unroll.' in text else ()), *_REST):
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
    return str(module)

"""LLVM: a module's text to an object file. It is also a program, which reads the text and writes the file."""

import sys
from functools import cache

from llvmlite import binding

_LEVEL = 2
"""Of optimisation; 3 costs more time than it wins."""
_ORDER = "-pre-RA-sched=list-ilp"


def emitted(text: str, cpu: str, features: str) -> bytes:
    """The object file of a module for a processor, by LLVM's names."""
    target = machine(cpu, features)
    module = binding.parse_assembly(text)
    module.verify()
    options = binding.create_pipeline_tuning_options(speed_level=_LEVEL)
    # Loops are the programs' own, and what is in them fills the host's registers.
    options.loop_unrolling = False
    passes = binding.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    result: bytes = target.emit_object(module)
    return result


def machine(cpu: str, features: str) -> binding.TargetMachine:
    """What knows a processor."""
    _initialise()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=_LEVEL, jit=True)


@cache
def _initialise() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    # For barriers, which are assembly, though an empty one.
    binding.initialize_native_asmparser()
    # Of LLVM's orders of instructions the one that keeps fewest values in memory: programs have long blocks.
    binding.set_option("", _ORDER)


if __name__ == "__main__":
    sys.stdout.buffer.write(emitted(sys.stdin.read(), *sys.argv[1:]))

"""Compiled programs, ready to run: after a prologue where registers must hold something when they start."""

from ctm.sim.elf import Executable, Shader
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.sim.runtime.prologue.r700 import with_prologue


def ready(shader: Shader) -> tuple[Executable, dict[int, int]]:
    """The program of a compiled shader, after a prologue if its file says which registers it starts with.

    Returns
    -------
    executable, inputs
        The program, and the input that each of these registers is loaded from.

    Raises
    ------
    ValueError
        There are not enough free inputs, or the code gets too long.
    """
    executable = shader.executable
    if isinstance(executable, R700Executable):
        return with_prologue(executable, shader.inputs)
    return executable, {}

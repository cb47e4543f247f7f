"""Compiled kernels on the cores of a device."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.elf import Executable, write
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.runtime import CommandBuffer, Device
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.core import UNTOUCHED
from ctm.tb.compiler.host import Launch, Library, Results
from ctm.tb.lib.compiled_results import image


def run(executable: Executable, launch: Launch, *, group: int | None = None, engine: str = "golden") -> Results:
    """Run a program over the domain of a launch."""
    config = PRESETS[DEFAULT_PRESETS[executable.kind]]
    if group is not None:
        config = replace(config, array=config.array.with_wavefront(group))
    device = Device(engine, config, hazards=engine == "golden" and executable.kind == "r5xx")
    own = executable.own_constants
    floats = {number: tuple(int(word) for word in row) for number, row in enumerate(launch.constants)}
    floats |= {number: tuple(words) for number, words in own.floats.items()}
    tables = [device.place(data) for data in ConstantFiles(floats=floats, ints=dict(own.ints)).images()]
    commands = CommandBuffer().set_inst_fmt(device.place(write(executable)))
    commands.set_constf_fmt(tables[0]).set_consti_fmt(tables[1]).set_constb_fmt(tables[2])
    for number, array in launch.inputs.items():
        loaded = image(device, array)
        commands.set_inp_fmt(number, loaded.base, loaded.layout.format_word, loaded.layout.height)
    untouched = np.full((launch.height, launch.width, 4), UNTOUCHED, np.uint32).view(np.float32)
    outputs = [image(device, untouched) for _ in range(4)]
    for number, output in enumerate(outputs):
        commands.set_out_fmt(number, output.base, output.layout.format_word, launch.height)
    values = image(device, untouched[..., :1])
    commands.set_cond_out_fmt(values.base, values.layout.format_word, launch.height)
    commands.set_cond_loc(ConditionalLocation.DPP).set_cond_out_mask(enable=executable.notes.conditional_output)
    commands.set_domain(0, 0, launch.width - 1, launch.height - 1).start_program()
    device.run(commands.flush_out_cache().flush_cond_out_cache())
    return Results(
        outputs=np.stack([output.read() for output in outputs]).view(np.uint32),
        conditional=np.ascontiguousarray(values.read()[..., 0]).view(np.uint32),
        memory=np.zeros(0, np.uint32),
    )


def check_beside_host(text: str, isa: str, launch: Launch, folder: Path) -> None:
    """Compile kernel `k` of a source in C; AssertionError if golden or fast gives another word than the host."""
    program = compile_kernel(Source(text, "k.c"), isa=isa).executable
    expected = Library([text], folder).run("k", launch, UNTOUCHED)
    for engine in ("golden", "fast"):
        assert differences(run(program, launch, engine=engine), expected) == 0

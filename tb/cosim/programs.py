"""Real programs as work for a machine: the project's examples and compiled shaders."""

from pathlib import Path

import numpy as np

from ctm.examples.catalogue import FOLDER
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.elf import read_shader, write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.sim.runtime.heap import LOCAL, SYSTEM
from ctm.sim.runtime.prologue.r5xx import with_prologue
from ctm.tb.cosim.work import Desk, Work
from ctm.tb.r5xx.shaders import Shader

Domain = tuple[int, int, int, int]


def example(path: str, domain: Domain) -> Work:
    """A job of the examples, each launch over `domain` (i0, j0, i1, j1)."""
    desk, job = Desk(), load_job(Path(FOLDER) / path)
    inputs = {section.index: desk.image(layout, array, SYSTEM) for section, layout, array in job.inputs}
    outputs = {section.index: desk.image(layout, array, LOCAL) for section, layout, array in job.outputs}
    conditional = None
    if job.conditional is not None and job.job.conditional is not None:
        array = job.conditional.array
        # What is only written begins with something else, to see it written.
        array = ~array if job.job.conditional.write else array
        conditional = desk.image(job.conditional.layout, array, SYSTEM)
    for launch in job.launches:
        commands = CommandBuffer().set_inst_fmt(desk.place(write(launch.program.executable)))
        floats, ints, bools = (desk.place(data) for data in launch.constants.images())
        commands.set_constf_fmt(floats).set_consti_fmt(ints).set_constb_fmt(bools)
        for index, image in inputs.items():
            commands.set_inp_fmt(index, image.base, image.layout.format_word, image.layout.height)
        for index, image in outputs.items():
            commands.set_out_fmt(index, image.base, image.layout.format_word, image.layout.height)
        if conditional is not None:
            _set_conditional(commands, job, conditional)
        commands.set_domain(*domain).start_program()
        desk.submit(commands.flush_out_cache().flush_cond_out_cache())
    return desk.work()


def _set_conditional(commands: CommandBuffer, job: LoadedJob, image: Image) -> None:
    section = job.job.conditional
    assert section is not None
    commands.set_cond_out_fmt(image.base, image.layout.format_word, image.layout.height)
    commands.append("set_cond_val", section.value).set_cond_test(section.test).set_cond_loc(section.location)
    commands.set_cond_out_mask(enable=section.write)


def shader(name: str, domain: Domain) -> Work:
    """A compiled program over `domain`."""
    desk, data = Desk(), Shader.load(name)
    source = read_shader(data.text)
    numbers = sorted(int(key.removeprefix("temp")) for key in data.arrays if key.startswith("temp"))
    assert isinstance(source.executable, Executable)
    executable, loaded_from = with_prologue(source.executable, numbers)
    arrays = {loaded_from[number]: data.arrays[f"temp{number}"] for number in numbers}
    arrays |= {each["input"]: data.arrays[f"texture{each['input']}"] for each in data.document["textures"]}
    commands = CommandBuffer().set_inst_fmt(desk.place(write(executable), SYSTEM))
    constants = ConstantFiles(floats=dict(source.float_constants), ints=dict(source.int_constants))
    floats, ints, _ = (desk.place(image) for image in constants.images())
    commands.set_constf_fmt(floats).set_consti_fmt(ints)
    for index, array in arrays.items():
        image = _floats(desk, array)
        commands.set_inp_fmt(index, image.base, image.layout.format_word, image.layout.height)
    width, height = data.grid
    for target in range(data.document["targets"]):
        image = _floats(desk, np.full((height, width, 4), data.document["unwritten"], np.float32), SYSTEM)
        commands.set_out_fmt(target, image.base, image.layout.format_word, height)
    if "expected_depth" in data.arrays:
        image = _floats(desk, np.full((height, width, 1), data.document["unwritten"], np.float32))
        commands.set_cond_out_fmt(image.base, image.layout.format_word, height)
        commands.set_cond_loc(ConditionalLocation.DPP).set_cond_out_mask(enable=True)
    desk.submit(commands.set_domain(*domain).start_program().flush_out_cache().flush_cond_out_cache(), SYSTEM)
    return desk.work()


def _floats(desk: Desk, array: np.ndarray, region: str = LOCAL) -> Image:
    height, width, channels = array.shape
    data_format = DataFormat.FLOAT32_4 if channels == 4 else DataFormat.FLOAT32_1
    return desk.image(Layout(width=width, height=height, format=data_format), array, region)

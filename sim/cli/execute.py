"""``ctm exec``: the bare machine."""

from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Annotated

import typer

from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.cli.options.engines import (
    DEFAULT_WATCHDOG,
    EngineName,
    MaxCycles,
    Port,
    Watchdog,
    check_engine,
    prepare_engine,
)
from ctm.sim.cli.options.machine import Json, Preset, Settings, configuration, number
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.engines.choice import make_engine
from ctm.sim.engines.engine import Engine
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.files import is_same_file, read_file, try_files, write_file
from ctm.sim.report.progress import run_progress
from ctm.sim.report.provenance import provenance
from ctm.sim.runtime.origins import Origins


def execute(
    submit: Annotated[
        list[str],
        typer.Option("--submit", metavar="ADDRESS,DWORDS", help="Run a command buffer; repeatable, in order."),
    ],
    load: Annotated[
        list[str] | None, typer.Option("--load", metavar="ADDRESS=FILE", help="Load a file's bytes; repeatable.")
    ] = None,
    dump: Annotated[
        list[str] | None,
        typer.Option("--dump", metavar="ADDRESS:BYTES=FILE", help="Write memory to a file at the end; repeatable."),
    ] = None,
    engine: EngineName = "golden",
    preset: Preset = None,
    settings: Settings = None,
    json_wanted: Json = False,
    watchdog: Watchdog = DEFAULT_WATCHDOG,
    max_cycles: MaxCycles = None,
    port: Port = None,
) -> None:
    """Run command buffers on the bare machine, with 4 GiB of memory; bytes that are not loaded read 0."""
    outcome = Outcome(
        json_wanted=json_wanted, engine=engine, cycles=None, instructions=0, lane_instructions=0, counters={},
        outputs={},
    )  # fmt: skip
    with outcome.reported():
        check_engine(engine, max_cycles, port=port)
        config = configuration(preset, settings)
        buffers = [_buffer(text) for text in submit]
        loads = [_load(text) for text in load or []]
        dumps = [_dump(text) for text in dump or []]
        _check_dumps(dumps, [path for _, path, _ in loads])
        outcome.fields |= provenance(config, {})
        prepare_engine(engine, config)
        with run_progress(None, watchdog) as progress:
            machine = make_engine(
                engine, config, watchdog=watchdog, max_cycles=max_cycles, progress=progress.advance, port=port
            )
            progress.standing = machine.standing
            for address, path, data in loads:
                try:
                    machine.memory.write(address, data)
                except ValueError as error:
                    raise BadInput(f"--load {path}: {error}") from None
            origins = Origins(machine.memory, config.array.instruction_set)
            try:
                for address, dwords in buffers:
                    _execute(machine, origins, address, dwords)
            except (MachineError, CycleLimitError):
                # Memory is dumped after an error, too.
                _finish(outcome, machine, dumps)
                raise
        _finish(outcome, machine, dumps)
        outcome.say(f"{len(buffers)} command buffers, {outcome.fields['instructions']:,} instructions")


def _execute(machine: Engine, origins: Origins, address: int, dwords: int) -> None:
    """Execute a buffer; an error of a program is raised with its source line, if its ELF file has a line table."""
    try:
        machine.execute(address, dwords)
    except MachineError as error:
        raise origins.located(error, address, dwords) from None
    finally:
        origins.executed(address, dwords)


def _finish(outcome: Outcome, machine: Engine, dumps: list[tuple[int, int, Path]]) -> None:
    """Report, and write what is to be dumped."""
    outcome.add_report(machine.report())
    for address, size, path in dumps:
        write_file(path, machine.memory.bytes[address : address + size].data, make_folders=True)
        outcome.fields["outputs"][f"0x{address:08x}"] = str(path)


def _fields(option: str, text: str, form: str, separators: str) -> list[str]:
    """An option's text, split at the first of each separator, in this order; `form` is what a message expects."""
    fields, remaining = [], text
    for separator in separators:
        field, found, remaining = remaining.partition(separator)
        if not found:
            raise BadInput(f"{option} {text}: write it as {form}")
        fields.append(field)
    return [*fields, remaining]


def _number(option: str, text: str, field: str, limit: int) -> int:
    """A field of an option's text as a number, 0 to `limit`."""
    try:
        value = number(field.strip())
    except ValueError:
        raise BadInput(f"{option} {text}: '{field}' is no decimal or 0x number") from None
    if not 0 <= value <= limit:
        raise BadInput(f"{option} {text}: {field} is not 0..0x{limit:x}")
    return value


def _load(text: str) -> tuple[int, Path, bytes]:
    address_text, name = _fields("--load", text, "ADDRESS=FILE", "=")
    address, path = _number("--load", text, address_text, ADDRESS_SPACE - 1), Path(name)
    data = read_file(path)
    if address + len(data) > ADDRESS_SPACE:
        raise BadInput(f"--load {text}: {len(data)} bytes leave the 4 GiB address space")
    return address, path, data


def _check_dumps(dumps: Sequence[tuple[int, int, Path]], loads: Sequence[Path]) -> None:
    """Every file of --dump can be written, and replaces neither another one nor what is loaded."""
    paths = [path for _, _, path in dumps]
    for one, other in combinations(paths, 2):
        if is_same_file(one, other):
            raise BadInput(f"--dump {other}: two dumps go to the same file")
    for path, loaded in product(paths, loads):
        if is_same_file(path, loaded):
            raise BadInput(f"--dump {path}: it would replace what --load reads")
    try_files({path: size for _, size, path in dumps}, make_folders=True)


def _buffer(text: str) -> tuple[int, int]:
    address_text, dwords_text = _fields("--submit", text, "ADDRESS,DWORDS", ",")
    address = _number("--submit", text, address_text, ADDRESS_SPACE - 1)
    if address % 4:
        raise BadInput(f"--submit {text}: a command buffer's address must be a multiple of 4")
    return address, _number("--submit", text, dwords_text, ADDRESS_SPACE // 4)


def _dump(text: str) -> tuple[int, int, Path]:
    address_text, size_text, path = _fields("--dump", text, "ADDRESS:BYTES=FILE", ":=")
    address = _number("--dump", text, address_text, ADDRESS_SPACE - 1)
    size = _number("--dump", text, size_text, ADDRESS_SPACE)
    if address + size > ADDRESS_SPACE:
        raise BadInput(f"--dump {text}: the range leaves the 4 GiB address space")
    return address, size, Path(path)

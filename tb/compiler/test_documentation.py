"""The examples of docs/kernels.md work."""

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.sim.compiler.clang import CLANG, INCLUDE
from ctm.tb.cli.invocation import ctm, report

ALL = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
PYTHON, TEXT = ALL.split("\n## Kernels in C\n")
BLOCKS = re.findall(r"```(c|toml)\n(.*?)```", TEXT, re.DOTALL)


def test_the_steps_from_a_python_function_are_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the hardware, which the golden model replaces."""
    source, *steps = re.findall(r"```python\n(.*?)```", PYTHON, re.DOTALL)
    (job,) = re.findall(r"```toml\n(.*?)```", PYTHON, re.DOTALL)
    (tmp_path / "ripple.py").write_text(source)
    (tmp_path / "ripple.toml").write_text(job)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {}
    exec("".join(steps).replace('Device("rtl")', 'Device("golden")'), names)
    np.save(tmp_path / "picture.npy", names["picture"].astype(np.float32))
    assert report("run", tmp_path / "ripple.toml")["status"] == "ok"
    assert np.array_equal(np.load(tmp_path / "seen.npy")[:, :, 0], names["fast"])
    assert ctm("cc", tmp_path / "ripple.py", "-o", tmp_path / "ripple.elf", "--isa", "r5xx").exit_code == 0
    shown = re.findall(r"^    (ALU|TEX|OUT) (.*?) +; \d+ +(ripple\.py:\d+)$", PYTHON, re.MULTILINE)
    text = ctm("disasm", tmp_path / "ripple.elf").stdout
    assert len(shown) > 5
    for kind, instruction, line in shown:
        assert re.search(rf"    {kind} {re.escape(instruction)} .*{line}\n", text), instruction


def test_the_first_kernel_runs_as_it_stands(tmp_path: Path) -> None:
    (_, source), (_, job), _ = BLOCKS
    (tmp_path / "scale.c").write_text(source)
    (tmp_path / "scale.toml").write_text(job)
    x = np.random.default_rng(1).random((64, 64, 4), np.float32)
    np.save(tmp_path / "x.npy", x)
    assert report("run", tmp_path / "scale.toml")["status"] == "ok"
    assert np.array_equal(np.load(tmp_path / "y.npy"), 2 * x)


def test_the_host_runs_it_too(tmp_path: Path) -> None:
    (_, source), _, (_, main) = BLOCKS
    (tmp_path / "scale.c").write_text(source)
    loop = "    for (int i = 0; i < 64 * 64 * 4; i++)\n"
    check = f"{loop}        if (y[i] != 2 * x[i])\n            return 1;\n    return 7;\n}}"
    fill = f"{loop}        x[i] = i;\n    ctm_run("
    main = main.replace("    ctm_run(", fill).rstrip().removesuffix("}") + check
    (tmp_path / "main.c").write_text(main)
    headers = [f"-I{INCLUDE}", f"-I{CLANG.folder / 'lib' / 'include'}"]
    for name in ("scale", "main"):
        output = ["-c", f"{name}.c", "-o", f"{name}.o"]
        command = [str(CLANG.folder / "zig"), "clang", "-Wall", "-Werror", *headers, *output]
        subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run(["g++", "scale.o", "main.o", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 7


def test_every_function_of_the_tables_is_there() -> None:
    headers = "".join(path.read_text() for path in (INCLUDE / "ctm").glob("*.h"))
    rows = TEXT[TEXT.index("| functions |") : TEXT.index("Exactness")]
    names = re.findall(r"\b[a-z_0-9]+\b", " ".join(re.findall(r"^\| `([^`]+)`", rows, re.MULTILINE)))
    assert len(names) > 25
    for name in names:
        assert re.search(rf"\b{name}\b[(,]", headers), name

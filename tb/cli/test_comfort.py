"""What a shell and scripts ask ``ctm`` for: completion, the version, what doctor finds."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CTM = Path(__file__).parents[2] / ".venv" / "bin" / "ctm"


def ctm(*arguments: str, **environment: str) -> str:
    """Standard output."""
    result = subprocess.run(
        [CTM, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begun", "completed"),
    [
        ("ctm d", ["debug", "disasm", "doctor"]),
        ("ctm run --engine ", ["auto", "golden", "fast", "rtl", "amaranth", "serial"]),
        ("ctm run --preset ti", ["tiny"]),
        ("ctm run --set memory.la", ["memory.latency="]),
        ("ctm verilog --pre", ["--preset"]),
        ("ctm bench ", ["golden", "fast", "rtl", "draws", "scale"]),
        ("ctm synth --unit zero", ["zero_test"]),
    ],
)
def test_a_shell_completes(begun: str, completed: list[str]) -> None:
    position = str(len(begun.split(" ")) - 1)
    assert ctm(COMP_WORDS=begun, COMP_CWORD=position, _CTM_COMPLETE="complete_bash").split() == completed


@pytest.mark.slow
def test_completion_is_installed_for_a_shell(tmp_path: Path) -> None:
    # The shell is found among the processes that led here, of which a test run may have none.
    command = ["bash", "-c", f"'{CTM}' --install-completion bash; exit $?"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "completion installed" in result.stdout
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert "_CTM_COMPLETE=complete_bash" in script.read_text()
    assert str(script) in (tmp_path / ".bashrc").read_text()


def test_the_version_is_that_of_the_package() -> None:
    assert ctm("--version") == f"ctm {importlib.metadata.version('ctm-machine')}\n"


def test_a_subcommand_starts_without_what_only_others_need() -> None:
    engines, hardware = "ctm.sim.engines.choice", "ctm.rtl.dpp.core_units"
    program = f"""
import sys
from ctm.sim.cli.application import application
def show(): print(*(name for name in ("ctm.sim.elf", {engines!r}, {hardware!r}) if name in sys.modules))
for command in ("--version", "info", "run"):
    application(command)
    show()
import ctm.rtl.instruction_sets
show()
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = [line.split() for line in result.stdout.splitlines()]
    assert loaded == [[], ["ctm.sim.elf"], ["ctm.sim.elf", engines], ["ctm.sim.elf", engines, hardware]]


def test_doctor_reports_as_one_json_object() -> None:
    found = json.loads(ctm("doctor", "--json"))
    assert found["status"] == "ok"
    findings = {finding["name"]: finding for finding in found["findings"]}
    assert findings["numpy"] == {
        "name": "numpy", "found": importlib.metadata.version("numpy"), "advice": "", "is_needed": True
    }  # fmt: skip
    assert not findings["verilator"]["is_needed"]

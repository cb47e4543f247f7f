"""What Verilator's linter may say of the machine's Verilog, and why that is no fault."""

_HEAD = """\
`verilator_config

// What Verilator still says of {file} with -Wall, and why that is as it should be:
//     $ verilator --lint-only -Wall {waivers} {file}
"""
_WAIVERS = {
    "UNUSEDSIGNAL": "Every field of a record and of an instruction word has its name, whether or not it is read\n"
    "// here; an AXI port has all signals of the standard; of a product or a sum some bits are rounded away.",
    "PROCASSINIT": "Registers have a value at the start, as those of FPGAs do. The reset gives them the same value.",
    "INITIALDLY": "A register that nothing depends on changes once all blocks wait, so that each of them runs once.",
    "DECLFILENAME": "All modules are in one file.",
}


def waivers(verilog: str, own: str) -> str:
    """Verilator's configuration for a file of the machine's Verilog; both are names."""
    sections = [_HEAD.format(file=verilog, waivers=own)]
    sections += [f'\n// {reason}\nlint_off -rule {rule} -file "*{verilog}"\n' for rule, reason in _WAIVERS.items()]
    return "".join(sections)

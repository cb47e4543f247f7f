"""Short names of a machine's units, for tables that compare presets."""

_PREFIXES = {"ctm_core.core.": "core.", "ctm_core": "core", "ctm.machine.": "", "ctm": "top"}


def short(name: str) -> str:
    """A unit's name without the components that most names have."""
    prefix = next(prefix for prefix in _PREFIXES if name.startswith(prefix))
    return _PREFIXES[prefix] + name.removeprefix(prefix)

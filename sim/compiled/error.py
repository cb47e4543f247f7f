"""What goes wrong with tools."""


class ToolchainError(Exception):
    """A tool is missing or failed; the message says what to install, or is the end of the tool's output."""

"""The Debug Adapter Protocol: editors drive a debug session."""

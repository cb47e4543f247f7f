"""The programs of draws as compiled code."""

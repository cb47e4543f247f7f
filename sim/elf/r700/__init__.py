"""R700 programs in executables."""

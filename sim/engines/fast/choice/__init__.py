"""Whether compiling a program pays: engine `auto`."""

"""Debugging: a job that stops where one wants, wavefront by wavefront, instruction by instruction, and goes back."""

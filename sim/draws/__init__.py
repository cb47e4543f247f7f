"""Draws that a graphics driver recorded for the RV770: its programs, registers and buffers as a job."""

"""The primitive assembler's raster: clipper, set-up and strip walker."""

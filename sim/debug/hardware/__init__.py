"""The hardware under a debugger's hands: what its cores showed of a wavefront, instruction by instruction."""

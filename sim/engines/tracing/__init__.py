"""The hardware as an engine that keeps what its cores show of their work, instruction by instruction."""

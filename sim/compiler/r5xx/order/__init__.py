"""In which order operations come, and which of them become one instruction of several channels."""

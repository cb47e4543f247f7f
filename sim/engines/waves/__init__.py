"""What every signal of the machine does in every cycle, written as a wave."""

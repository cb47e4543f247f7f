"""What units say to each other: each conversation, declared once."""

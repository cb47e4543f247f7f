"""What a person sees: progress, tables, descriptions."""

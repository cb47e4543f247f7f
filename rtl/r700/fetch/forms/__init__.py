"""Forms of fetch instructions: each decodes those whose words have the same fields."""

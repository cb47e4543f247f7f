"""From words of code to records, with all checks that need nothing but the code."""

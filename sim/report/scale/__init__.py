"""How machines of many cores scale: measurements, a model on paper, a record and a picture."""

"""Options of ``ctm run`` that write waves."""

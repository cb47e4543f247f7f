"""Steps that rewrite the text between two tools: RTLIL, Verilog and C++."""

// The ECP5 cells that LiteDRAM puts at the memory's pins, for an FPGA of Gowin's. Registers of outputs are ordinary
// flip-flops. Sources: Lattice, FPGA Libraries Reference Guide; Gowin, Arora V Programmable IO User Guide.

module TRELLIS_IO #(parameter DIR = "BIDIR") (inout B, input I, input T, output O);
  IOBUF pin (.IO(B), .I(I), .OEN(T), .O(O));
endmodule

module OFS1P3BX(input SCLK, input SP, input D, input PD, output reg Q);
  always @(posedge SCLK) if (PD) Q <= 1'b1; else if (SP) Q <= D;
endmodule

// Words are sampled at the falling edge, half a period later than on an ECP5, and come with the next rising edge. The
// chip, whose clock is inverted, drives a word from one falling edge to the next: its access time and both pins have a
// whole period.
module IFS1P3BX(input SCLK, input SP, input D, input PD, output Q);
  IDDR register(.CLK(SCLK), .D(D), .Q0(), .Q1(Q));
endmodule

module FD1S3BX(input CK, input D, input PD, output reg Q);
  always @(posedge CK or posedge PD) if (PD) Q <= 1'b1; else Q <= D;
endmodule

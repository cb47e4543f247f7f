// The ECP5 cells that LiteDRAM puts at the memory's pins, for an FPGA of Gowin's: registers at pins are ordinary
// flip-flops. Source: Lattice, FPGA Libraries Reference Guide.

module TRELLIS_IO #(parameter DIR = "BIDIR") (inout B, input I, input T, output O);
  IOBUF pin (.IO(B), .I(I), .OEN(T), .O(O));
endmodule

module OFS1P3BX(input SCLK, input SP, input D, input PD, output reg Q);
  always @(posedge SCLK) if (PD) Q <= 1'b1; else if (SP) Q <= D;
endmodule

module IFS1P3BX(input SCLK, input SP, input D, input PD, output reg Q);
  always @(posedge SCLK) if (PD) Q <= 1'b1; else if (SP) Q <= D;
endmodule

module FD1S3BX(input CK, input D, input PD, output reg Q);
  always @(posedge CK or posedge PD) if (PD) Q <= 1'b1; else Q <= D;
endmodule

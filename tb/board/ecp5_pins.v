// The cells of an ECP5 at its pins, as Lattice's FPGA Libraries Reference Guide describes them.

module IB(input I, output O);
  assign O = I;
endmodule

module OBZ(input I, input T, output O);
  assign O = T ? 1'bz : I;
endmodule

module TRELLIS_IO #(parameter DIR = "INPUT") (inout B, input I, input T, output O);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule

// Its output is the first word while the clock is high, and the second one while it is low.
module ODDRX1F(input SCLK, input RST, input D0, input D1, output Q);
  reg first, second;
  always @(posedge SCLK) begin
    first <= RST ? 1'b0 : D0;
    second <= RST ? 1'b0 : D1;
  end
  assign Q = SCLK ? first : second;
endmodule

module FD1S3AX #(parameter GSR = "ENABLED") (input CK, input D, output reg Q);
  initial Q = 1'b0;
  always @(posedge CK) Q <= D;
endmodule

module FD1S3BX(input CK, input D, input PD, output reg Q);
  initial Q = 1'b1;
  always @(posedge CK or posedge PD) if (PD) Q <= 1'b1; else Q <= D;
endmodule

module OFS1P3BX(input SCLK, input SP, input D, input PD, output reg Q);
  initial Q = 1'b1;
  always @(posedge SCLK) if (PD) Q <= 1'b1; else if (SP) Q <= D;
endmodule

module OFS1P3DX(input SCLK, input SP, input D, input CD, output reg Q);
  initial Q = 1'b0;
  always @(posedge SCLK or posedge CD) if (CD) Q <= 1'b0; else if (SP) Q <= D;
endmodule

module IFS1P3BX(input SCLK, input SP, input D, input PD, output reg Q);
  initial Q = 1'b1;
  always @(posedge SCLK) if (PD) Q <= 1'b1; else if (SP) Q <= D;
endmodule

// Its output clocks are its input clock: a simulation has the frequency of the output clock at the input.
module EHXPLLL #(
  parameter PLLRST_ENA = "DISABLED", parameter INTFB_WAKE = "DISABLED", parameter STDBY_ENABLE = "DISABLED",
  parameter DPHASE_SOURCE = "DISABLED", parameter CLKOP_ENABLE = "ENABLED", parameter CLKI_DIV = 1,
  parameter CLKFB_DIV = 1, parameter CLKOP_DIV = 1, parameter CLKOP_CPHASE = 0, parameter CLKOP_FPHASE = 0,
  parameter CLKOS_ENABLE = "ENABLED", parameter CLKOS_DIV = 1, parameter CLKOS_CPHASE = 0, parameter CLKOS_FPHASE = 0,
  parameter FEEDBK_PATH = "CLKOP"
) (
  input CLKI, input CLKFB, input RST, input STDBY, input PHASESEL0, input PHASESEL1, input PHASEDIR, input PHASESTEP,
  input PHASELOADREG, input PLLWAKESYNC, input ENCLKOP, input ENCLKOS, output CLKOP, output CLKOS, output LOCK
);
  assign CLKOP = CLKI;
  assign CLKOS = CLKI;
  assign LOCK = 1'b1;
endmodule

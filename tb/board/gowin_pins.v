// The cells of an FPGA of Gowin's at its pins, as Gowin's Arora V Programmable IO User Guide describes them.

module IBUF(input I, output O);
  assign O = I;
endmodule

module TBUF(input I, input OEN, output O);
  assign O = OEN ? 1'bz : I;
endmodule

module IOBUF(inout IO, input I, input OEN, output O);
  assign IO = OEN ? 1'bz : I;
  assign O = IO;
endmodule

// Q0 is D0 while the clock is high, and D1 while it is low; Q1 is what enables the pin.
module ODDR #(parameter TXCLK_POL = 0) (input CLK, input D0, input D1, input TX, output Q0, output reg Q1);
  reg first, second;
  always @(posedge CLK) begin
    first <= D0;
    second <= D1;
    Q1 <= TX;
  end
  assign Q0 = CLK ? first : second;
endmodule

// What the pin had at a rising edge (Q0) and at the next falling one (Q1) comes with the rising edge after both.
module IDDR(input CLK, input D, output reg Q0, output reg Q1);
  reg rising, falling;
  always @(posedge CLK) rising <= D;
  always @(negedge CLK) falling <= D;
  always @(posedge CLK) begin
    Q0 <= rising;
    Q1 <= falling;
  end
endmodule

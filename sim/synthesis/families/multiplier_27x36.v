// A product as a multiplier of Gowin's fifth series, without its registers and its adder.
module \$__MUL27X36 (input [26:0] A, input [35:0] B, output [62:0] Y);
  parameter A_SIGNED = 1, B_SIGNED = 1;
  parameter A_WIDTH = 27, B_WIDTH = 36, Y_WIDTH = 63;
  MULT27X36 _TECHMAP_REPLACE_ (
    .A(A), .B(B), .D(26'b0), .PSEL(1'b0), .PADDSUB(1'b0), .CLK(2'b0), .CE(2'b0), .RESET(2'b0), .DOUT(Y)
  );
endmodule

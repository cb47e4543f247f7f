// Selects one of four inputs with two LUT4 and the ECP5's multiplexer after them: for ABC these are three LUT4.
module \$_MUX4_ (A, B, C, D, S, T, Y);
  input A, B, C, D, S, T;
  output Y;
  wire lower, upper;
  (* keep *) LUT4 #(.INIT(16'hCACA)) lower_lut (.A(A), .B(B), .C(S), .D(1'b0), .Z(lower));
  (* keep *) LUT4 #(.INIT(16'hCACA)) upper_lut (.A(C), .B(D), .C(S), .D(1'b0), .Z(upper));
  (* keep *) PFUMX multiplexer (.ALUT(upper), .BLUT(lower), .C0(T), .Z(Y));
endmodule

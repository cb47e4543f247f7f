// Of four inputs one, as two LUT4 and the multiplexer that an ECP5 has behind them: ABC sees three LUT4 in it.
module \$_MUX4_ (A, B, C, D, S, T, Y);
  input A, B, C, D, S, T;
  output Y;
  wire lower, upper;
  (* keep *) LUT4 #(.INIT(16'hCACA)) lower_lut (.A(A), .B(B), .C(S), .D(1'b0), .Z(lower));
  (* keep *) LUT4 #(.INIT(16'hCACA)) upper_lut (.A(C), .B(D), .C(S), .D(1'b0), .Z(upper));
  (* keep *) PFUMX multiplexer (.ALUT(upper), .BLUT(lower), .C0(T), .Z(Y));
endmodule

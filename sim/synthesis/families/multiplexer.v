// Of four inputs one, as two LUT4 and the multiplexer that an ECP5 has behind them: ABC sees three LUT4 in it.
module \$_MUX4_ (A, B, C, D, S, T, Y);
  input A, B, C, D, S, T;
  output Y;
  wire lower, upper;
  (* keep *) LUT4 #(.INIT(16'hCACA)) lower_lut (.A(A), .B(B), .C(S), .D(1'b0), .Z(lower));
  (* keep *) LUT4 #(.INIT(16'hCACA)) upper_lut (.A(C), .B(D), .C(S), .D(1'b0), .Z(upper));
  (* keep *) PFUMX multiplexer (.ALUT(upper), .BLUT(lower), .C0(T), .Z(Y));
endmodule

// Of eight one, with the multiplexer behind two of these.
module \$_MUX8_ (A, B, C, D, E, F, G, H, S, T, U, Y);
  input A, B, C, D, E, F, G, H, S, T, U;
  output Y;
  wire lower, upper;
  \$_MUX4_ lower_half (.A(A), .B(B), .C(C), .D(D), .S(S), .T(T), .Y(lower));
  \$_MUX4_ upper_half (.A(E), .B(F), .C(G), .D(H), .S(S), .T(T), .Y(upper));
  (* keep *) L6MUX21 multiplexer (.D0(lower), .D1(upper), .SD(U), .Z(Y));
endmodule

// Of sixteen one, in the same way.
module \$_MUX16_ (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, S, T, U, V, Y);
  input A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, S, T, U, V;
  output Y;
  wire lower, upper;
  \$_MUX8_ lower_half (.A(A), .B(B), .C(C), .D(D), .E(E), .F(F), .G(G), .H(H), .S(S), .T(T), .U(U), .Y(lower));
  \$_MUX8_ upper_half (.A(I), .B(J), .C(K), .D(L), .E(M), .F(N), .G(O), .H(P), .S(S), .T(T), .U(U), .Y(upper));
  (* keep *) L6MUX21 multiplexer (.D0(lower), .D1(upper), .SD(V), .Z(Y));
endmodule

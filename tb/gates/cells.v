// Cells of an ECP5: the block RAM and the multiplier, of which Yosys has no models, and those of logic. Verilator makes
// a module for each set of parameters, which would take too long for logic: its parameters are inputs here.
// Source: Lattice's usage guides for memory and sysDSP (FPGA-TN-02204 and 02205), in the modes that synthesis uses: no
// registers at outputs, no resets, no chip selects. Numbered pins are a vector here.

// 1,024 rows of 18 bits. A port of 9 bits accesses half of a row, and one of 1 bit a bit of the first eight of a half.
// A port of 36 bits accesses two rows, with the data pins of both ports.
module DP16KD #(
    parameter DATA_WIDTH_A = 18, parameter DATA_WIDTH_B = 18,
    parameter WRITEMODE_A = "NORMAL", parameter WRITEMODE_B = "NORMAL",
    // The INITVALs, the first one lowest: the upper two bits of each 20 are unused.
    parameter [20479:0] INITVAL = 0
) (
    input CLKA, CEA, OCEA, WEA, RSTA, CLKB, CEB, OCEB, WEB, RSTB,
    input [2:0] CSA, CSB,
    input [13:0] ADA, ADB,
    input [17:0] DIA, DIB,
    output [17:0] DOA, DOB
);
    reg [17:0] rows [0:1023];
    reg [17:0] read_a, read_b, read_second;
    integer row;
    initial begin
        for (row = 0; row < 1024; row = row + 1) rows[row] = INITVAL[20 * row +: 18];
        read_a = 0;
        read_b = 0;
        read_second = 0;
    end

    // A row after a write by a port of this width. For whole rows the lowest bits of the address enable bytes.
    function [17:0] written(input integer width, input [17:0] bits, input [17:0] data, input [3:0] address);
        case (width)
            1: begin
                written = bits;
                written[9 * address[3] + address[2:0]] = data[0];
            end
            9: written = address[3] ? {data[8:0], bits[8:0]} : {bits[17:9], data[8:0]};
            default: written = {address[1] ? data[17:9] : bits[17:9], address[0] ? data[8:0] : bits[8:0]};
        endcase
    endfunction
    function [17:0] seen(input integer width, input [17:0] bits, input [3:0] address);
        case (width)
            1: seen = {17'b0, bits[9 * address[3] + address[2:0]]};
            9: seen = address[3] ? bits[17:9] : bits[8:0];
            default: seen = bits;
        endcase
    endfunction

    // The first row that each port accesses, and that row after a write.
    wire [9:0] first_a = DATA_WIDTH_A == 36 ? {ADA[13:5], 1'b0} : ADA[13:4];
    wire [9:0] first_b = DATA_WIDTH_B == 36 ? {ADB[13:5], 1'b0} : ADB[13:4];
    wire [17:0] new_a = written(DATA_WIDTH_A, rows[first_a], DIA, ADA[3:0]);
    wire [17:0] new_b = written(DATA_WIDTH_B, rows[first_b], DIB, ADB[3:0]);

    always @(posedge CLKA) if (CEA) begin
        if (WEA) rows[first_a] <= new_a;
        if (WEA && DATA_WIDTH_A == 36) rows[first_a + 1] <= written(18, rows[first_a + 1], DIB, {2'b0, ADA[3:2]});
        if (!WEA || WRITEMODE_A == "READBEFOREWRITE") read_a <= seen(DATA_WIDTH_A, rows[first_a], ADA[3:0]);
        else if (WRITEMODE_A == "WRITETHROUGH") read_a <= seen(DATA_WIDTH_A, new_a, ADA[3:0]);
    end
    always @(posedge CLKB) if (CEB) begin
        if (WEB) rows[first_b] <= new_b;
        if (!WEB || WRITEMODE_B == "READBEFOREWRITE") read_b <= seen(DATA_WIDTH_B, rows[first_b], ADB[3:0]);
        else if (WRITEMODE_B == "WRITETHROUGH") read_b <= seen(DATA_WIDTH_B, new_b, ADB[3:0]);
        read_second <= rows[first_b + 1];
    end
    assign DOA = DATA_WIDTH_B == 36 ? read_b : read_a;
    assign DOB = DATA_WIDTH_B == 36 ? read_second : read_b;
endmodule

module MULT18X18D (
    input [17:0] A, B, C,
    input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    output [35:0] P
);
    wire signed [18:0] a = {SIGNEDA & A[17], A}, b = {SIGNEDB & B[17], B};
    wire signed [37:0] product = a * b;
    assign P = product[35:0];
endmodule

module LUT4(input [15:0] INIT, input A, B, C, D, output Z);
    assign Z = INIT[{D, C, B, A}];
endmodule

// A LUT4 and its carry: where the LUT does not propagate the carry, A and B alone generate it.
module CARRY(input [15:0] INIT, input INJECT1, CIN, A, B, C, D, output S, COUT);
    wire propagates = INIT[{D, C, B, A}];
    assign S = propagates ^ (!INJECT1 && CIN);
    assign COUT = propagates ? CIN : !INJECT1 && INIT[{B, A}];
endmodule

module CCU2C(
    input [15:0] INIT0, INIT1,
    input INJECT1_0, INJECT1_1, CIN, A0, B0, C0, D0, A1, B1, C1, D1,
    output S0, S1, COUT
);
    wire between;
    CARRY first(INIT0, INJECT1_0, CIN, A0, B0, C0, D0, S0, between);
    CARRY second(INIT1, INJECT1_1, between, A1, B1, C1, D1, S1, COUT);
endmodule

// After routing: a LUT4 that is a memory, whose address has its lowest bit at D, the next ones at B, C and A.
module RAM16X1 #(parameter [15:0] INITVAL = 0) (input A, B, C, D, WD, WAD0, WAD1, WAD2, WAD3, WRE, WCK, output F);
    reg [15:0] table_bits = INITVAL;
    always @(posedge WCK) if (WRE) table_bits[{WAD0, WAD2, WAD1, WAD3}] <= WD;
    assign F = table_bits[{D, C, B, A}];
endmodule

// A buffer after routing.
module BUF(input A, output Z);
    assign Z = A;
endmodule

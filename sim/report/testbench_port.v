
  // Memory at @PORT@: one burst of each direction at a time, a beat in each cycle. Beyond the words that
  // the testbench has, reads give 0, as they do of memory that was not written, and writes an error response.
  wire @PORT@_arvalid, @PORT@_awvalid, @PORT@_wvalid, @PORT@_wlast, @PORT@_rready, @PORT@_bready;
  wire [31:0] @PORT@_araddr, @PORT@_awaddr;
  wire [7:0] @PORT@_arlen;
  wire [@TOP_BIT@:0] @PORT@_wdata;
  wire [@TOP_BYTE@:0] @PORT@_wstrb;
  reg [@TOP_BIT@:0] @PORT@_rdata;
  reg @PORT@_rvalid = 1'b0, @PORT@_rlast = 1'b0, @PORT@_bvalid = 1'b0, @PORT@_writes = 1'b0;
  reg [1:0] @PORT@_bresp = 2'd0;
  reg [31:0] @PORT@_raddr = 32'd0, @PORT@_waddr = 32'd0;
  reg [8:0] @PORT@_remaining = 9'd0;
  integer @PORT@_word, @PORT@_byte;
  wire @PORT@_arready = @PORT@_remaining == 9'd0;
  wire @PORT@_awready = !@PORT@_writes && !@PORT@_bvalid;
  wire @PORT@_wready = @PORT@_writes;

  always @(posedge clk) begin
    if (@PORT@_remaining != 9'd0 && (!@PORT@_rvalid || @PORT@_rready)) begin
      for (@PORT@_word = 0; @PORT@_word < @BEAT_WORDS@; @PORT@_word = @PORT@_word + 1)
        @PORT@_rdata[32 * @PORT@_word +: 32] <=
          index_of(@PORT@_raddr) < WORDS ? memory[index_of(@PORT@_raddr) + @PORT@_word] : 32'd0;
      @PORT@_rvalid <= 1'b1;
      @PORT@_rlast <= @PORT@_remaining == 9'd1;
      @PORT@_raddr <= @PORT@_raddr + @BEAT_BYTES@;
      @PORT@_remaining <= @PORT@_remaining - 9'd1;
    end else if (@PORT@_rready) @PORT@_rvalid <= 1'b0;
    if (@PORT@_arvalid && @PORT@_arready) begin
      @PORT@_raddr <= @PORT@_araddr;
      @PORT@_remaining <= {1'b0, @PORT@_arlen} + 9'd1;
    end
    if (@PORT@_bready) @PORT@_bvalid <= 1'b0;
    if (@PORT@_wvalid && @PORT@_wready) begin
      for (@PORT@_word = 0; @PORT@_word < @BEAT_WORDS@; @PORT@_word = @PORT@_word + 1)
        for (@PORT@_byte = 0; @PORT@_byte < 4; @PORT@_byte = @PORT@_byte + 1)
          if (@PORT@_wstrb[4 * @PORT@_word + @PORT@_byte]) begin
            if (index_of(@PORT@_waddr) < WORDS)
              memory[index_of(@PORT@_waddr) + @PORT@_word][8 * @PORT@_byte +: 8] <=
                @PORT@_wdata[32 * @PORT@_word + 8 * @PORT@_byte +: 8];
            else @PORT@_bresp <= 2'd3;
          end
      @PORT@_waddr <= @PORT@_waddr + @BEAT_BYTES@;
      if (@PORT@_wlast) begin
        @PORT@_writes <= 1'b0;
        @PORT@_bvalid <= 1'b1;
      end
    end
    if (@PORT@_awvalid && @PORT@_awready) begin
      @PORT@_waddr <= @PORT@_awaddr;
      @PORT@_writes <= 1'b1;
      @PORT@_bresp <= 2'd0;
    end
    if (rst) begin
      @PORT@_remaining <= 9'd0;
      @PORT@_rvalid <= 1'b0;
      @PORT@_bvalid <= 1'b0;
      @PORT@_writes <= 1'b0;
    end
  end

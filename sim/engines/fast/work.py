"""What a thread of an engine does, as native code: it reads pointers to tables, and calls the code of each.

Every program's code has this function, and the first one's is used: to compile it alone would take longer than to start
a program that is kept.
"""

from ctm.sim.engines.fast.parameters import Slot

WORK = "work"
"""Name of the compiled function: it takes the pipes of pointers that come and of those that go back; null ends it."""

TEXT = f"""
declare i64 @read(i32, ptr, i64)
declare i64 @write(i32, ptr, i64)
declare i32 @clock_gettime(i32, ptr)

define internal i64 @nanoseconds(ptr %time) {{
  %result = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %remainder.pointer = getelementptr i64, ptr %time, i64 1
  %remainder = load i64, ptr %remainder.pointer
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %remainder
  ret i64 %sum
}}

define void @{WORK}(i32 %jobs, i32 %ended) {{
  %pointer = alloca ptr
  %time = alloca [2 x i64]
  br label %take
take:
  %size = call i64 @read(i32 %jobs, ptr %pointer, i64 8)
  %is.read = icmp eq i64 %size, 8
  br i1 %is.read, label %look, label %leave
look:
  %table = load ptr, ptr %pointer
  %is.null = icmp eq ptr %table, null
  br i1 %is.null, label %leave, label %run
run:
  %begin = call i64 @nanoseconds(ptr %time)
  %code.pointer = getelementptr i64, ptr %table, i64 {Slot.CODE:d}
  %code = load ptr, ptr %code.pointer
  call void %code(ptr %table)
  %end = call i64 @nanoseconds(ptr %time)
  %taken = sub i64 %end, %begin
  %taken.pointer = getelementptr i64, ptr %table, i64 {Slot.NANOSECONDS:d}
  store i64 %taken, ptr %taken.pointer
  %written = call i64 @write(i32 %ended, ptr %pointer, i64 8)
  br label %take
leave:
  ret void
}}
"""
"""LLVM's text; 1 is Linux's monotonic clock."""

// Command peers runs a folder of firmware that the project may not contain and
// compares each program with what the folder's expect.tsv says:
//
//	go run ./internal/peers [-jobs N] [-only TEXT] DIR
//
// A line of expect.tsv has four columns with tabs between them: file, machine,
// expectation, limit in cycles of the system clock. Lines that begin with # are
// remarks. Several lines for one file must all hold; the program is run once,
// up to the highest limit. Expectations:
//
//	exit:N          the program ends by itself with status N
//	text:STRING     this text is printed; behind other texts or before them
//	runs            the program reaches the limit, or sleeps for ever, and
//	                does not crash or end with a failure
//
// An exit may be followed, with semicolons, by
//
//	file:NAME       everything it prints equals the file, but for empty lines
//	                and spaces at the beginning and the end
//	signature:NAME  memory from begin_signature to end_signature equals the
//	                file's words, one a line in hexadecimal (riscv-arch-test)
//
// A program for hazard3-tb whose name says multicore gets two harts.
//
// The table says for each file what became of it and why; the last line counts.
// The exit status is 1 if anything failed.
package main

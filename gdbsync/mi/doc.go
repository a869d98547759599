// Package mi reads and writes gdb's machine interface, version 3.
//
// The interface in half a page. A client writes one command a line,
// "TOKEN-operation options parameters", where the token is any number. gdb
// writes one record a line:
//
//	TOKEN^done,name=value,...    the result of the command with that token
//	*stopped,...  *running,...   what the program does
//	=breakpoint-created,...      what changed in gdb, whoever changed it
//	+download,...                progress
//	~"text" @"text" &"text"      text for the console, of the target, of the log
//	(gdb)                        ready for a command
//
// A value is a C string, a tuple {name=value,...}, or a list [value,...] or
// [name=value,...]. Strings escape bytes that are not printable ASCII as \ooo,
// so a path with umlauts arrives byte by byte and is UTF-8 again afterwards.
//
// Source: the GDB manual, "The GDB/MI Interface", section "GDB/MI Output
// Syntax". Two things that gdb writes and its grammar does not have are
// understood: a nameless value in a result list (the further locations of a
// breakpoint before MI 3), and a list that mixes values and results.
//
// The package must never open, run or wait for anything.
package mi

// Package replay runs the console blocks of a Markdown document and compares
// what comes out with what the document shows.
//
// A fence marked `console` holds commands and their output, as a terminal
// shows them:
//
//	```console
//	$ stem-hw run examples/hello/hello.elf
//	Hello from core 0
//	…
//	$ echo $?
//	0
//	```
//
// A line that begins with "$ " is a command, given to `sh -c`; a line that ends
// with a backslash goes on in the next, which begins with "> ". What follows is
// its output, standard output and standard error as they come. The rules:
//
//   - "…" within a line stands for any text, also none; a line that is only "…"
//     stands for any number of lines, also none. Nothing else is a wildcard.
//   - spaces at the end of a line do not count.
//   - a command that does not exit with 0 must be followed by "$ echo $?".
//   - standard input is empty. Pipe into the command where it needs some.
//   - the working folder holds links to everything at the top of the project,
//     and is thrown away afterwards; so is HOME. Blocks of one document share
//     them, in order.
//
// Commands that must not be replayed (sudo, git clone) belong in a fence marked
// `sh`, output that was not produced by a command in one marked `text`.
//
// The package must never know stem-hw: it knows documents and processes only.
package replay

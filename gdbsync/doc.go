// Package gdbsync keeps a person's own gdb, their Neovim, and a file on disk in
// step.
//
// The person types into an ordinary gdb. Besides, gdb gets a second user
// interface on a pseudoterminal (new-ui mi3), so that person and program share
// one gdb: what either does, the other sees. Sync starts that gdb on a terminal
// and reads its machine interface (package mi).
//
// Records are folded, one after the other, into a State. Each change gets the
// next sequence number and is written to gdb-sync.json, whole or not at all, so
// that a reader never sees half a state. Then Neovim is told over its socket: it
// shows where the program stands and the breakpoints as signs, and follows
// across files; it never takes the cursor from a person who types. Neovim is
// served by a goroutine of its own that only knows the latest state: an editor
// that waits for a key holds nobody up.
//
// The other way round, Neovim sends what its commands ask for (stem.lua):
// toggle a breakpoint, step, continue. They become MI commands.
//
// gdb reaches its server through a link, a socket of ours: so it is known which
// side ended. A server that went away is waited for and attached to again; a gdb
// that was killed is started again with the breakpoints it had. A gdb that the
// person quit is started again when the person says so.
//
// Programs of the same user ask for operations over a socket (Call): they are of a
// fixed list, and a Guard keeps one from calling the program's functions and from
// reading memory where a read does something. Who may ask for what is not decided
// here: the socket is in a folder of the person's own.
//
// The package must never evaluate an expression or run a gdb command that came
// from the editor: from there come words of a fixed list, a path and a line.
package gdbsync

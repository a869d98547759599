// Package session brings up the place to work in: tmux with an editor, gdb, the
// program's console and its log, and the sockets and files that tie them
// together. It is the same for a board, a simulated one and this computer.
//
// A session has a stable name (hazard3-sim-inf-bss-t4). Two short keys stand for
// the workspace and for the name in paths, since a Unix socket's path is short:
//
//	$XDG_RUNTIME_DIR/stem/<workspace>/<instance>/<id>/
//	    t.sock n.sock g.sock l.sock c.sock gdb-sync.json container.json
//
// Each folder on the way is checked: a folder, ours, for nobody else, no link. The
// last part is new for every start, so a socket of an earlier one never answers.
//
// What is true about a session is in its record, in the user's state folder, which
// nothing inside a session can write. Whether a session runs is not written at
// all: its keeper holds a lock on the record, which the kernel drops however the
// keeper ends. The keeper is a process of its own; every process of the session is
// its child, or a child of its tmux, and ends with it. So after any crash List says
// what is so, and Remove removes what is left.
//
// The session is on this computer, or in a pod of podman's (package container): an
// editor container, whose first process is the tmux, and a debug container with
// the debug server. Paths are the same on both sides. The instance's folder is
// mounted; what steers the processes lies beside it in <instance>.ro/, mounted
// read-only; <id> is then the begin of the editor container's full id. The keeper
// reaches into containers by exec alone, and what it reads from
// the runtime folder it opens without following links out of it.
//
// What a person may look at is in .stem/instances/<instance>/ in the card.
//
// The package must never read a file that a session's inside could have written,
// and never open a socket of tmux in a container from outside.
package session

// Package mcp gives agents the session a person works in: the same tmux, Neovim,
// gdb, console and board, as tools of the Model Context Protocol.
//
// What an agent may do is a property of the socket it came through, never of what
// it says. There are three levels: observe looks, assist helps (halt, step,
// breakpoints, edits and builds in the container, requests that wait for a
// person), full takes over. Each level is a set of tools; a tool outside the set
// does not exist. One small process of the user (Hub) owns the sockets, one per
// level and session, checks with SO_PEERCRED who connects, and carries the calls
// out; `mcp serve` merely joins standard input and output to a socket.
//
// The protocol in half a page. Both sides write JSON-RPC 2.0 messages, one a line.
// A client opens with `initialize` (revisions up to 2025-11-25) or with
// `server/discover` (2026-07-28), asks `tools/list`, and calls: `tools/call` with
// a name and arguments. A result has content for a model and structuredContent,
// which here is the document that the command line prints with --json. A tool
// that fails says so in its result (isError); a tool that does not exist is an
// error of the protocol. A client that sent a progress token is told of progress
// during waits, and may cancel any call. Source: modelcontextprotocol.io,
// specification of 2026-07-28.
//
// What the package holds to:
//
//   - Text from panes, serial lines and files is data. It is capped, stripped of
//     escape sequences and marked as untrusted; it never becomes a part of a
//     command, a format or an expression.
//   - gdb gets operations of a fixed list. Expressions and places are parsed by a
//     grammar that knows no call; besides, gdb is told to call nothing and to read
//     no memory but RAM, ROM and flash (gdbsync.Guard).
//   - Edits, builds, tests and runs of programs of this computer happen inside the
//     session's container. Without a container those tools do not exist, and
//     neither does the level full.
//   - Every call that is more than a look is in the audit before it happens and
//     after it; what cannot be audited is not done.
//   - What writes to a board's flash is only asked for (package job); a person
//     approves, and nothing here can.
//
// The package must never decide by a client's name, annotation or answer, and
// never trust a file that a session's inside could have written.
package mcp

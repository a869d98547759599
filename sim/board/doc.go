// Package board keeps simulated boards that last: sim, sim:NAME.
//
// Such a board is one Pico 2 for every verb. Its flash and fuses are a file in
// the user's state folder (Store), written whole or not at all. While somebody
// uses it, one process has it: the holder of the lock beside that file.
//
//   - Usually that is a server (Server), a process of its own that is started on
//     demand (Start), survives its starter, and ends when it is told to, or when
//     for some time nobody was attached and no program ran. It listens on a Unix
//     socket in a folder of the user's alone.
//   - Or it is a verb that simulates the board in its own process (`run`), which
//     takes the lock, or borrows the board from the server.
//
// The kernel drops the lock with its holder, however that ended, so a socket
// without a lock is known to be stale.
//
// # Protocol
//
// A connection carries frames in both directions: one byte for the kind, four
// for the length (big endian), then the contents. Kind J is one JSON document,
// D is data. The client sends hello with its protocol's number; the server
// answers with its own, and hangs up if they differ. Then the client sends
// requests, each one J and, if the request says so, one D; the server answers
// each with one J, and, if the answer says so, one D. Requests on one connection
// are served in their order.
//
// hold makes a connection the board's only user until it releases it or goes
// away; others are told who has it. lend is hold for a process that wants the
// board's file: the server writes it, drops the lock, and takes the board back
// when the connection ends. console turns the connection into a console: D
// frames are output (first byte: the stream) and input, J frames are events. gdb
// turns it into a plain stream for the GDB remote protocol.
//
// The package must never print, parse command lines, or decide whether an image
// suits the board.
package board

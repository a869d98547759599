// Package console is the serial console of a board: a port that comes and goes.
//
// A Line stays with one board. It finds the board's port, opens it and hands on
// what comes; when the port vanishes (the board was reset, flashed, unplugged) or
// somebody takes the board to flash it, it lets go, says so, and waits until the
// board is back. The board is found by who it is, which the caller knows (Find);
// the name of the port is another one each time. A Hub shares a line with others
// on a Unix socket, as plain bytes. A Notes turns addresses in what is printed
// into places in the source.
//
// The package must never choose a board, print, or keep a port open that a board
// is about to leave.
package console

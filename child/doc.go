// Package child supervises child processes: nothing it started outlives its
// owner, however the owner ends.
//
// Each child leads a process group of its own, and three things end that
// group:
//
//   - the context of Start: SIGTERM to the whole group, and SIGKILL after the
//     grace time to what is left;
//   - the child's own end: whatever it left behind in its group is killed while
//     the dead leader still holds the group's number, so the number cannot
//     belong to somebody else by then;
//   - the owner's end, even by SIGKILL: a watcher (a few lines of sh in a
//     session of its own) holds the other end of a pipe. When the pipe closes,
//     it kills every group it was told of. Besides, the kernel kills the direct
//     children (PR_SET_PDEATHSIG, set from a thread that lives as long as the
//     supervisor, since the signal goes by thread).
//
// A process that leaves its group on purpose (setsid, a daemon) is outside the
// package's reach; do not start such programs.
//
// A child that ends is never started again by itself: whether to is its user's
// decision. Output that nobody asked for is kept to a bound (Tail), so that it
// can be shown in an error. A program that is not installed is a fault with the
// package to install (exit status 11).
//
// The package must never know what it starts, or use a shell on words that
// came from outside.
package child

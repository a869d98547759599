// Package bench compares the simulator with other programs, run in the same
// minute on the same machine. `make bench` prints what it finds; docs/performance.md
// keeps a copy. It holds benchmarks only.
package bench

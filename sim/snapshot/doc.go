// Package snapshot writes the state of a graph of Go objects to a stream and
// reads it back into another graph of the same shape.
//
// A simulated board is some hundred structs that point at each other. Two boards
// that were made from the same options have the same shape, so a snapshot holds
// values alone: the walker goes through both in the same order and writes, or
// sets, every number, string and slice it meets, exported or not. What the
// pointers, functions and interfaces of a board lead to was decided when it was
// made and is not written, with three exceptions that the Policy names:
//
//   - Skip: types that hold no state of their own (decoded code, tables).
//   - Identity: pointers that move about at run time, such as those in a queue of
//     events. They are written as the number of the object they point at.
//   - Made: pointers that are nil or not as things go. The object is made anew.
//
// Everything else that could hide state (channels, maps of anything but plain
// values, slices of pointers whose length changed) is an error and not a guess,
// so that a type that is added later is either handled or noticed.
//
// The stream begins with a fingerprint of all types that were met: a snapshot
// fits the program that wrote it, not another version of it.
//
// The package must never know what it writes.
package snapshot

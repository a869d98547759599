// Package profiles knows what kinds of target there are and how each is used
// by default: rp2350, hazard3-sim and native-amd64, as TOML files embedded in
// the program.
//
// A profile has two parts. [chip] is what the thing is (memory map, USB
// numbers, UF2 families) and is fixed. The other tables are settings, and two
// files may lay values over them: a project's stem-hw.toml, which everybody who
// clones it gets, and stem-hw.local.toml beside it, which stays on one machine.
// Later files win:
//
//	embedded profile  <  stem-hw.toml  <  stem-hw.local.toml
//
// The merge goes table by table and key by key; a value replaces the earlier
// one whole, lists included. A file may also choose the profile with a key
// `profile` at its top; the local file's choice wins, and what the caller asks
// for (--profile) wins over both. An overlay is read strictly: an unknown key,
// a wrong type or a value out of range is a fault with file, line and column
// and, where one is near, the name that was probably meant.
//
// Projects come from strangers. So no setting names a program, a path, a host or
// a device: the worst file can choose a silly baud rate. The one exception is
// [commands], which this package only reads: they run on this computer only after
// a person trusted the digest of the file they stand in.
//
// The package must never look for boards, open devices, or run anything.
package profiles

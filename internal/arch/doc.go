// Package arch holds the test of the house's arrows: which package may import
// which. It reads `go list -deps` and compares with the groups of
// ARCHITECTURE.md.
//
// The package has no code of its own to import, and must stay so.
package arch

// Package built gives tests the stem-hw program as a user has it: built once
// per test process, from the sources as they are.
//
// The go command caches a test's verdict by the files the test opened. A build
// in a child process is invisible to it, so this package reads every file the
// program is made of itself: a cached verdict is then never stale.
//
// It is for tests alone and must never be imported by the product.
package built

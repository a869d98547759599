// Package docs holds the tests that keep the documents true: the console
// blocks of README.md and docs/ are replayed against the built program, and
// docs/errors.md is compared with the codes of package faults.
//
// The man pages and docs/cli are generated in cmd/stem-hw, the only place that
// knows the command line; `make docs` writes them again.
package docs

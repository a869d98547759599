// Package iter stands in for a module of the same path that is no longer
// served: it has the two names that github.com/jochenvg/go-udev takes from it,
// for functions that stem-hw never calls. See docs/adr/0007.
package iter

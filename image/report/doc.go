// Package report says what is in an image file and what a chip will do with
// it: results with two renderings, text for people and JSON for scripts.
//
// It puts together what the other packages of image find out: contents by
// memory, metadata blocks with their hashes, binary info, symbols, pins, and
// the boot ROM's decisions. It must never decide anything itself, and it
// writes nothing: rendering is the caller's step, through package ui.
package report

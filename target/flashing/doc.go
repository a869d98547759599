// Package flashing brings an image into flash, whichever way the flash is
// reached.
//
// Only sectors that differ are erased and written, sectors that are blank
// already are not erased, and blank pages are not sent. The sector that makes
// the image bootable (the one with its image definition) is erased first and
// written last, and in it the page where the definition begins is the very last
// one: a chip that loses power at any moment starts the old program, the new
// one, or none, never a mixture.
//
// What lies in the same sectors behind the image is erased, as by every loader.
//
// The package must never know what kind of device it talks to, and never decide
// whether an image suits it: package image does.
package flashing

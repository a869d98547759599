// Package flashing brings an image into flash, whichever way the flash is
// reached.
//
// Only sectors that differ are erased and written, sectors that are blank
// already are not erased, and blank pages are not sent. A sample of a large image
// comes first: where most sectors differ, the others are written unread.
//
// What decides about which program starts is erased first and written last: the
// sector with the image definition and those in which the boot ROM begins to
// search, and in the very last one the page with the definition behind all
// others. An erase or a program that is cut off may leave any part done, so the
// old definition is made unusable before its sector is erased, and the word that
// marks the new one is programmed alone, at the very end. A chip that loses power
// at any moment starts the old program, the new one, or none, never a mixture.
//
// Reads, erases and writes are as large as they can be, up to 64 KiB, so that a
// context that ends is heeded soon. How they are done is the Device's: a loader
// in the board's RAM that erases larger blocks would be another Device.
//
// What lies in the same sectors behind the image is erased, as by every loader.
//
// The package must never know what kind of device it talks to, and never decide
// whether an image suits it: package image does.
package flashing

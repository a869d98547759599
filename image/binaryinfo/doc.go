// Package binaryinfo reads what a program built with the pico-sdk says about
// itself: name, version, features, pins, build attributes, named groups.
//
// Near the start of the program stands a header of five words: a marker, the
// start and end of a list of pointers, the address of a copy table, a second
// marker. Each pointer leads to an entry with a type and a tag. Pointers are
// run-time addresses; what lives in RAM is found in flash through the copy
// table, whose rows are source, destination start and destination end.
// Source: pico-sdk, src/common/pico_binary_info/include/pico/binary_info/
// {defs,structure,code}.h.
//
// The package reads memory only through the function it is given. Every list
// and string is bounded, so that no program makes it hang or grow.
package binaryinfo

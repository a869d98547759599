// Package wiring connects things to a simulated board: LEDs, buttons that are
// pressed by a script, voltages on ADC pins, wires between pins, I2C and SPI
// devices, the other end of a UART.
//
// A Part is one thing. It meets the board at its pins alone, as the real thing
// does: an I2C device watches two lines and pulls one of them low, so it serves
// the I2C block, a PIO program and bit-banging code alike. Every part is a few
// dozen lines behind the one method Plug.
//
// Parts come from a TOML file (Parse) or from single words (ParseLED,
// ParseButton, ParseAnalog, ParseWire). Both are input from outside: numbers
// have bounds, unknown keys are errors, and an error says where it is, what was
// found and what would be right.
//
// Times are simulated time since power-up, whatever the chip's clocks do.
// Everything is a function of the description, so a run repeats.
//
// The package must never print and never look at the wall clock. Files that a
// description names are read through the function that the caller gives.
package wiring

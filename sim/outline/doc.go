// Package outline draws a Raspberry Pi Pico 2 seen from above with what is at
// its pins: level, direction and function of each GPIO, and what is connected
// there. It returns lines of text and knows no terminal.
package outline

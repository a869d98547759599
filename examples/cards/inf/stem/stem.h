/* What a card's program gets on every target: the board's RISC-V cores, its Arm
 * cores, and this computer. main() is called with a console; the status that it
 * returns is the program's. */
#ifndef STEM_H
#define STEM_H

#include <stdint.h>

/* print knows %c %s %d %u %x %%. */
void print(const char *format, ...);

#endif

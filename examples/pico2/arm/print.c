/* The same code as for RISC-V, with the pico2.h of this folder. */
#include "pico2.h"

#include "../print.c"

/* Reads standard input by semihosting, character by character, and prints it
   in capitals. */
#include "tb.h"
int main(void) {
    for (;;) {
        uint32_t c = semihost(7, 0); /* SYS_READC */
        if (c == 0xffffffffu) break;
        if (c >= 'a' && c <= 'z') c -= 32;
        char b = (char)c;
        semihost(3, &b); /* SYS_WRITEC */
    }
    uint32_t block[2] = {0x20026, 5};
    semihost(0x20, block); /* SYS_EXIT_EXTENDED */
    return 0;
}

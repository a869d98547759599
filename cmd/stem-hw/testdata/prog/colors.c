/* Prints colours, and sequences that a terminal would obey. */
#include "tb.h"
int main(void) {
    tb_puts("\x1b[31mred\x1b[0m \x1b[2Jclear \x1b]0;title\x07" "done\x1b[1;1H\n");
    return 0;
}

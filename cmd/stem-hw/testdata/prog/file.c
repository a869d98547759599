/* Writes a file by semihosting and says how that went. */
#include "tb.h"
int main(void) {
    static const char name[] = "out.txt", text[] = "written by the program\n";
    uint32_t open[3] = {(uint32_t)name, 4, sizeof name - 1};
    uint32_t h = semihost(1, open);
    if (h == 0xffffffffu) {
        tb_puts("no file\n");
        return 0;
    }
    uint32_t write[3] = {h, (uint32_t)text, sizeof text - 1};
    tb_puts(semihost(5, write) == 0 ? "file written\n" : "not written\n");
    semihost(2, &h);
    return 0;
}

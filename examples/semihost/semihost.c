/* semihost: asks the debugger or simulator for services, and ends with a
 * status of its own. */
#include "pico2.h"

enum { SYS_WRITEC = 0x03, SYS_WRITE0 = 0x04, SYS_CLOCK = 0x10 };

int main(void)
{
	if (semihost(SYS_WRITE0, "written by semihosting\n") == -1) {
		print("nobody answers semihosting calls\n");
		return 1;
	}
	for (const char *s = "one at a time\n"; *s; s++)
		semihost(SYS_WRITEC, s);
	int before = semihost(SYS_CLOCK, 0);
	sleep_ms(50);
	int after = semihost(SYS_CLOCK, 0);
	print("the clock of the host %s\n", after >= before ? "does not run backwards" : "runs backwards");
	return 3;
}

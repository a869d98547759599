#include "stem.h"

static int counter; /* no value: in .bss */

int main(void)
{
	print("counter is %d\n", counter);
	return counter;
}

#include "stem.h"

int with_value = 42; /* in .data, copied from flash before main */
int without_value;   /* in .bss, cleared before main */

int main(void)
{
	print("data %d, bss %d\n", with_value, without_value);
	return 0;
}

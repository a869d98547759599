#include <stdio.h>

#include "pico/stdlib.h"

int main(void)
{
	stdio_init_all();
	for (int i = 1; i <= 3; i++)
		printf("%d squared is %d\n", i, i * i);
	return 0;
}

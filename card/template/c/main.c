#include "stem.h"

static int square(int n)
{
	return n * n;
}

int main(void)
{
	for (int i = 1; i <= 3; i++)
		print("%d squared is %d\n", i, square(i));
	return 0;
}

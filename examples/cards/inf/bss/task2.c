#include "stem.h"

static int called(void)
{
	static int times;
	return ++times;
}

int main(void)
{
	called();
	called();
	int n = called();
	print("called %d times\n", n);
	return n == 3 ? 0 : 1;
}

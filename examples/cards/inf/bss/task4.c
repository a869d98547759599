#include "stem.h"

static unsigned char buffer[256];

static int zeros(void)
{
	int n = 0;
	for (unsigned i = 0; i < sizeof buffer; i++)
		if (buffer[i] == 0)
			n++;
	return n;
}

static int fill(void)
{
	int sum = 0;
	for (unsigned i = 0; i < sizeof buffer; i++) {
		buffer[i] = (unsigned char)i;
		sum += buffer[i];
	}
	return sum;
}

int main(void)
{
	print("%d bytes are zero\n", zeros());
	print("filled: %d\n", fill());
	return 0;
}

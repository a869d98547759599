#include "stem.h"

/* In sum.S. */
int sum(const int *values, int n);

int main(void)
{
	static const int values[] = {3, 1, 4, 1, 5, 9, 2, 6};
	int s = sum(values, sizeof values / sizeof values[0]);
	print("the sum is %d\n", s);
	return s == 31 ? 0 : 1;
}

/* crash: walks off the end of a linked list into an address where nothing is.
 * (On the RP2350 address 0 is the boot ROM, so a null pointer can be read!) */
#include "pico2.h"

struct node {
	uint32_t value;
	struct node *next;
};

/* The last node's next was never set: it holds what was in memory before. */
static struct node nodes[3] = {
	{1, &nodes[1]},
	{2, &nodes[2]},
	{3, (struct node *)0xa5a5a5a0},
};

static uint32_t __attribute__((noipa)) sum_list(const struct node *n)
{
	uint32_t sum = 0;
	while (n) {
		sum += n->value;
		n = n->next;
	}
	return sum;
}

static uint32_t __attribute__((noipa)) report(void)
{
	uint32_t sum = sum_list(nodes);
	print("sum %u\n", sum);
	return sum;
}

int main(void)
{
	print("walking a list that does not end\n");
	uart_flush();
	uint32_t sum = report();
	print("it ended\n");
	return (int)sum;
}

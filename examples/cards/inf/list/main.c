#include "list.h"
#include "stem.h"

static struct node nodes[4];

int main(void)
{
	struct node *list = 0;
	for (int i = 0; i < 4; i++) {
		nodes[i].value = i + 1;
		list = list_push(list, &nodes[i]);
	}
	for (struct node *n = list_reverse(list); n; n = n->next)
		print("%d ", n->value);
	print("\n");
	return 0;
}

#include "list.h"

struct node *list_push(struct node *head, struct node *n)
{
	n->next = head;
	return n;
}

struct node *list_reverse(struct node *head)
{
	struct node *out = 0;
	while (head) {
		struct node *next = head->next;
		out = list_push(out, head);
		head = next;
	}
	return out;
}

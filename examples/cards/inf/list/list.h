#ifndef LIST_H
#define LIST_H

struct node {
	int value;
	struct node *next;
};

struct node *list_push(struct node *head, struct node *n);
struct node *list_reverse(struct node *head);

#endif

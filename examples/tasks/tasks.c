/* tasks: what a debugger shows of an RTOS. There is no scheduler here: the
 * program fills the variables of a FreeRTOS kernel for two cores by hand, with
 * their real names and layout, so that the view of them can be learnt (and
 * tested) without a kernel. */
#include "pico2.h"

/* The shapes are those of FreeRTOS-Kernel V11, list.h and tasks.c, as far as a
 * debugger looks. */
struct list;
struct list_item {
	uint32_t xItemValue;
	struct list_item *pxNext, *pxPrevious;
	void *pvOwner;
	struct list *pxContainer;
};
struct mini_item {
	uint32_t xItemValue;
	struct list_item *pxNext, *pxPrevious;
};
struct list {
	uint32_t uxNumberOfItems;
	struct list_item *pxIndex;
	struct mini_item xListEnd;
};
typedef struct tskTaskControlBlock {
	volatile uint32_t *pxTopOfStack;
	uint32_t uxCoreAffinityMask;
	struct list_item xStateListItem, xEventListItem;
	uint32_t uxPriority;
	uint32_t *pxStack;
	volatile int32_t xTaskRunState;
	uint32_t uxTaskAttributes;
	char pcTaskName[16];
} tskTCB;

tskTCB *volatile pxCurrentTCBs[2];
struct list pxReadyTasksLists[4];
struct list xDelayedTaskList1, xDelayedTaskList2, xPendingReadyList, xSuspendedTaskList, xTasksWaitingTermination;
volatile uint32_t uxCurrentNumberOfTasks;
volatile int32_t xSchedulerRunning;

static tskTCB tasks[6];
static uint32_t stacks[6][64];

static void list_init(struct list *l)
{
	l->pxIndex = l->xListEnd.pxNext = l->xListEnd.pxPrevious = (struct list_item *)&l->xListEnd;
	l->xListEnd.xItemValue = 0xffffffff;
}

static void list_add(struct list *l, struct list_item *i)
{
	struct list_item *last = l->xListEnd.pxPrevious;
	i->pxNext = (struct list_item *)&l->xListEnd;
	i->pxPrevious = last;
	i->pxContainer = l;
	last->pxNext = i;
	l->xListEnd.pxPrevious = i;
	l->uxNumberOfItems++;
}

/* Where a task that does not run will go on. */
static void __attribute__((noipa)) wait_for_bus(void) { wait_for_event(); }
static void __attribute__((noipa)) sensor_task(void)
{
	for (;;)
		wait_for_bus();
}

/* The registers of a task as the RP2350's RISC-V port saves them: pc, x1,
 * x5..x31, critical nesting, mstatus. */
static void save_context(tskTCB *t, uint32_t *stack, uint32_t pc, uint32_t ra)
{
	uint32_t *top = stack + 64 - 31;
	top[0] = pc;
	top[1] = ra;
	for (uint32_t x = 5; x <= 31; x++)
		top[x - 3] = x << 16 | x;
	top[30] = 0x1880;
	t->pxTopOfStack = top;
	t->pxStack = stack;
}

static tskTCB *make(unsigned n, const char *name, uint32_t priority, struct list *l)
{
	tskTCB *t = &tasks[n];
	for (unsigned i = 0; name[i] && i < 15; i++)
		t->pcTaskName[i] = name[i];
	t->uxPriority = priority;
	t->xStateListItem.pvOwner = t->xEventListItem.pvOwner = t;
	t->xTaskRunState = -1;
	save_context(t, stacks[n], (uint32_t)wait_for_bus, (uint32_t)sensor_task + 4);
	list_add(l, &t->xStateListItem);
	uxCurrentNumberOfTasks++;
	return t;
}

volatile uint32_t beats;

static void __attribute__((noipa)) heartbeat(void) { beats++; }

static void core1(void)
{
	for (;;)
		wait_for_event();
}

int main(void)
{
	for (unsigned i = 0; i < 4; i++)
		list_init(&pxReadyTasksLists[i]);
	list_init(&xDelayedTaskList1);
	list_init(&xDelayedTaskList2);
	list_init(&xPendingReadyList);
	list_init(&xSuspendedTaskList);
	list_init(&xTasksWaitingTermination);
	pxCurrentTCBs[0] = make(0, "main", 2, &pxReadyTasksLists[2]);
	pxCurrentTCBs[1] = make(1, "IDLE1", 0, &pxReadyTasksLists[0]);
	make(2, "IDLE0", 0, &pxReadyTasksLists[0]);
	make(3, "sensor", 3, &xDelayedTaskList1);
	make(4, "logger", 1, &xSuspendedTaskList);
	make(5, "radio", 2, &xPendingReadyList);
	pxCurrentTCBs[0]->xTaskRunState = 0;
	pxCurrentTCBs[1]->xTaskRunState = 1;
	core1_start(core1);
	xSchedulerRunning = 1;
	heartbeat();
	print("%u tasks\n", uxCurrentNumberOfTasks);
	heartbeat();
	return 0;
}

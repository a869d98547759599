/* USB device: RP2350 datasheet 12.7; USB 2.0 chapter 9; CDC PSTN 1.2. */
#include "usbcdc.h"

#define REG(a) (*(volatile uint32_t *)(uintptr_t)(a))

/* 12.7.5: registers, and their alias that sets bits. */
#define USB        0x50110000u
#define ADDR       REG(USB + 0x00)
#define MAIN_CTRL  REG(USB + 0x40)
#define SIE_CTRL   REG(USB + 0x4c)
#define SIE_STATUS REG(USB + 0x50)
#define BUFF_STATUS REG(USB + 0x58)
#define STALL_ARM  REG(USB + 0x68)
#define MUXING     REG(USB + 0x74)
#define POWER      REG(USB + 0x78)
#define INTE       REG(USB + 0x90)
#define INTS       REG(USB + 0x98)
#define SIE_CTRL_SET REG(USB + 0x204c)

enum {
	MAIN_ENABLE = 1 << 0,
	MUX_TO_PHY = 1 << 0, MUX_SOFTCON = 1 << 3,
	POWER_VBUS = 1 << 2, POWER_VBUS_OVERRIDE = 1 << 3,
	SIE_PULLUP = 1 << 16, SIE_EP0_INT = 1 << 29,
	ST_SETUP = 1 << 17, ST_RESET = 1 << 19,
	INT_BUFFERS = 1 << 4, INT_RESET = 1 << 12, INT_SETUP = 1 << 16,
};

/* 12.7.4: the packet memory. Of each endpoint IN comes before OUT. */
#define MEM           0x50100000u
#define EP_CTRL(n, out) REG(MEM + 8 * (n) + 4 * (out))
#define EP_BUF(n, out, half) (*(volatile uint16_t *)(uintptr_t)(MEM + 0x80 + 8 * (n) + 4 * (out) + 2 * (half)))
enum {
	EP_ENABLE = (int)(1u << 31), EP_DOUBLE = 1 << 30, EP_INT = 1 << 29, EP_INTERRUPT = 3 << 26, EP_BULK = 2 << 26,
	BUF_FULL = 1 << 15, BUF_PID1 = 1 << 13, BUF_SELECT_FIRST = 1 << 12, BUF_STALL = 1 << 11, BUF_AVAILABLE = 1 << 10,
	BUF_LENGTH = 0x3ff,
	/* Where buffers are, from the start of the memory. */
	EP0_BUFFER = 0x100, NOTIFY_BUFFER = 0x180, OUT_BUFFER = 0x200, IN_BUFFER = 0x280,
};

enum { EP_NOTIFY = 1, EP_OUT = 2, EP_IN = 3, RESET_INTERFACE = 2 };

/* --- what it says about itself -------------------------------------------- */

/* Identity: what tools know as a Pico. A product needs numbers of its own. */
static const uint8_t device_descriptor[18] = {
	18, 1, 0x00, 0x02, 0xef, 2, 1, 64, 0x8a, 0x2e, 0x09, 0x00, 0x00, 0x01, 1, 2, 3, 1,
};

enum { CONFIG_SIZE = 9 + 8 + 9 + 5 + 5 + 4 + 5 + 7 + 9 + 7 + 7 + 9 };
static const uint8_t config_descriptor[CONFIG_SIZE] = {
	9, 2, CONFIG_SIZE, 0, 3, 1, 0, 0x80, 50,
	8, 11, 0, 2, 2, 2, 0, 0,                 /* interfaces 0 and 1 belong together */
	9, 4, 0, 0, 1, 2, 2, 0, 4,               /* communication: ACM */
	5, 0x24, 0, 0x20, 1, 5, 0x24, 1, 0, 1,   /* header, call management */
	4, 0x24, 2, 6, 5, 0x24, 6, 0, 1,         /* line coding and break; union */
	7, 5, 0x80 | EP_NOTIFY, 3, 8, 0, 16,
	9, 4, 1, 0, 2, 10, 0, 0, 0,              /* data */
	7, 5, EP_OUT, 2, 64, 0, 0, 7, 5, 0x80 | EP_IN, 2, 64, 0, 0,
	9, 4, RESET_INTERFACE, 0, 0, 0xff, 0, 1, 5, /* restart on request */
};

static char serial[17];
static const char *const strings[] = {"stem-hw", "Pico 2 USB echo", serial, "Echo", "Reset"};

/* --- state ------------------------------------------------------------------ */

static struct {
	uint8_t type, request;
	uint16_t value, index, length;
} setup;
static const uint8_t *tx;         /* what is left of an answer */
static uint32_t tx_left;
static bool tx_short;             /* an empty packet ends it */
static enum { IDLE, DATA_IN, DATA_OUT, STATUS_IN, STATUS_OUT } stage;
static uint16_t ep0_pid;
static uint8_t new_address, answer[64], line_coding[7];
static bool configured, dtr, last_full;
static uint8_t in_half, out_half;
static enum { STAY, TO_BOOTSEL, TO_START } leaving;
static uint32_t leaving_flags;

/* The controller runs at 48 MHz: it has to see everything else of a buffer's
 * control before AVAILABLE (12.7.3.7). */
static void give_buffer(unsigned ep, unsigned out, unsigned half, uint16_t v)
{
	EP_BUF(ep, out, half) = v;
	for (int i = 0; i < 4; i++)
		__asm__ volatile("nop\n\tnop\n\tnop");
	EP_BUF(ep, out, half) = v | BUF_AVAILABLE;
}

static void copy_out(uint32_t offset, const uint8_t *from, unsigned n)
{
	volatile uint8_t *to = (volatile uint8_t *)(uintptr_t)(MEM + offset);
	while (n--)
		*to++ = *from++;
}

static void copy_in(uint8_t *to, uint32_t offset, unsigned n)
{
	const volatile uint8_t *from = (const volatile uint8_t *)(uintptr_t)(MEM + offset);
	while (n--)
		*to++ = *from++;
}

/* --- endpoint 0 ---------------------------------------------------------------- */

static void ep0_in(const uint8_t *data, unsigned n)
{
	copy_out(EP0_BUFFER, data, n);
	give_buffer(0, 0, 0, (uint16_t)(BUF_FULL | ep0_pid | n));
	ep0_pid ^= BUF_PID1;
}

static void ep0_out(void)
{
	give_buffer(0, 1, 0, (uint16_t)(ep0_pid | USB_PACKET));
	ep0_pid ^= BUF_PID1;
}

static void status_in(void)
{
	stage = STATUS_IN;
	ep0_pid = BUF_PID1;
	ep0_in(answer, 0);
}

static void stall(void)
{
	stage = IDLE;
	STALL_ARM = 3;
	EP_BUF(0, 0, 0) = BUF_STALL;
	EP_BUF(0, 1, 0) = BUF_STALL;
}

static void more_in(void)
{
	unsigned n = tx_left < USB_PACKET ? tx_left : USB_PACKET;
	ep0_in(tx, n);
	tx += n;
	tx_left -= n;
	if (n < USB_PACKET)
		tx_short = false;
}

static void reply(const uint8_t *data, uint32_t n)
{
	tx = data;
	tx_left = n < setup.length ? n : setup.length;
	tx_short = n < setup.length;
	stage = DATA_IN;
	more_in();
}

static void string_reply(unsigned index)
{
	if (index == 0) {
		static const uint8_t english[4] = {4, 3, 0x09, 0x04};
		reply(english, 4);
		return;
	}
	if (index > sizeof strings / sizeof *strings) {
		stall();
		return;
	}
	unsigned n = 2;
	for (const char *s = strings[index - 1]; *s; s++) {
		answer[n++] = (uint8_t)*s;
		answer[n++] = 0;
	}
	answer[0] = (uint8_t)n;
	answer[1] = 3;
	reply(answer, n);
}

/* --- endpoints for data: two buffers each ------------------------------------------ */

/* The buffers take turns, and so do DATA0 and DATA1: the first one is always 0. */
static void start_in(void)
{
	EP_BUF(EP_IN, 0, 0) = BUF_SELECT_FIRST;
	EP_BUF(EP_IN, 0, 1) = 0;
	in_half = 0;
	last_full = false;
}

static void start_out(void)
{
	EP_BUF(EP_OUT, 1, 1) = 0;
	EP_BUF(EP_OUT, 1, 0) = BUF_SELECT_FIRST;
	out_half = 0;
	give_buffer(EP_OUT, 1, 0, BUF_SELECT_FIRST | USB_PACKET);
	give_buffer(EP_OUT, 1, 1, BUF_PID1 | USB_PACKET);
}

static void configure(bool on)
{
	configured = on;
	EP_CTRL(EP_NOTIFY, 0) = on ? EP_ENABLE | EP_INTERRUPT | EP_INT | NOTIFY_BUFFER : 0;
	EP_CTRL(EP_OUT, 1) = on ? EP_ENABLE | EP_DOUBLE | EP_INT | EP_BULK | OUT_BUFFER : 0;
	EP_CTRL(EP_IN, 0) = on ? EP_ENABLE | EP_DOUBLE | EP_INT | EP_BULK | IN_BUFFER : 0;
	EP_BUF(EP_NOTIFY, 0, 0) = 0;
	start_in();
	if (on)
		start_out();
}

int usb_receive(uint8_t data[USB_PACKET])
{
	uint16_t b = EP_BUF(EP_OUT, 1, out_half);
	if (!configured || !(b & BUF_FULL) || (b & BUF_AVAILABLE))
		return -1;
	unsigned n = b & BUF_LENGTH;
	copy_in(data, OUT_BUFFER + USB_PACKET * out_half, n);
	give_buffer(EP_OUT, 1, out_half, (uint16_t)((out_half ? BUF_PID1 : 0) | USB_PACKET));
	out_half ^= 1;
	return (int)n;
}

bool usb_send(const uint8_t *data, unsigned n)
{
	uint16_t b = EP_BUF(EP_IN, 0, in_half);
	if (!configured || (b & (BUF_AVAILABLE | BUF_STALL)))
		return false;
	copy_out(IN_BUFFER + USB_PACKET * in_half, data, n);
	give_buffer(EP_IN, 0, in_half, (uint16_t)((b & BUF_SELECT_FIRST) | BUF_FULL | (in_half ? BUF_PID1 : 0) | n));
	in_half ^= 1;
	last_full = n == USB_PACKET;
	return true;
}

bool usb_open(void) { return configured && dtr; }

/* --- requests ------------------------------------------------------------------------ */

/* An endpoint halts, or goes on from DATA0. */
static bool halt(uint8_t address, bool on)
{
	if (address == (0x80 | EP_IN)) {
		start_in();
		if (on)
			EP_BUF(EP_IN, 0, 0) = EP_BUF(EP_IN, 0, 1) = BUF_STALL;
	} else if (address == EP_OUT) {
		if (on)
			EP_BUF(EP_OUT, 1, 0) = EP_BUF(EP_OUT, 1, 1) = BUF_STALL;
		else
			start_out();
	} else {
		return address == (0x80 | EP_NOTIFY) || (address & 0x7f) == 0;
	}
	return true;
}

static bool halted(uint8_t address)
{
	return address == (0x80 | EP_IN) ? EP_BUF(EP_IN, 0, 0) & BUF_STALL : address == EP_OUT && EP_BUF(EP_OUT, 1, 0) & BUF_STALL;
}

static void get_descriptor(void)
{
	switch (setup.value >> 8) {
	case 1: reply(device_descriptor, sizeof device_descriptor); break;
	case 2: reply(config_descriptor, sizeof config_descriptor); break;
	case 3: string_reply(setup.value & 0xff); break;
	default: stall();
	}
}

static void standard(void)
{
	bool ok = true;
	switch (setup.request) {
	case 0: /* GET_STATUS */
		answer[0] = (setup.type & 31) == 2 && halted((uint8_t)setup.index);
		answer[1] = 0;
		reply(answer, 2);
		return;
	case 1: /* CLEAR_FEATURE */
	case 3: /* SET_FEATURE */
		ok = setup.type == 2 && setup.value == 0 && halt((uint8_t)setup.index, setup.request == 3);
		break;
	case 5: /* SET_ADDRESS: after the status */
		new_address = setup.value & 0x7f;
		break;
	case 6:
		get_descriptor();
		return;
	case 8: /* GET_CONFIGURATION */
		answer[0] = configured;
		reply(answer, 1);
		return;
	case 9: /* SET_CONFIGURATION */
		ok = setup.value < 2;
		if (ok)
			configure(setup.value);
		break;
	case 10: /* GET_INTERFACE */
		answer[0] = 0;
		reply(answer, 1);
		return;
	case 11: /* SET_INTERFACE */
		ok = setup.value == 0;
		break;
	default:
		ok = false;
	}
	if (ok)
		status_in();
	else
		stall();
}

static void class_request(void)
{
	if (setup.index == RESET_INTERFACE && setup.length == 0) {
		if (setup.request == 1) { /* BOOTSEL; the low bits are what it leaves out */
			leaving = TO_BOOTSEL;
			leaving_flags = setup.value & 0x7f;
		} else if (setup.request == 2) {
			leaving = TO_START;
		} else {
			stall();
			return;
		}
		status_in();
		return;
	}
	switch (setup.request) {
	case 0x20: /* SET_LINE_CODING */
		stage = DATA_OUT;
		ep0_pid = BUF_PID1;
		ep0_out();
		return;
	case 0x21: /* GET_LINE_CODING */
		reply(line_coding, sizeof line_coding);
		return;
	case 0x22: /* SET_CONTROL_LINE_STATE */
		dtr = setup.value & 1;
		status_in();
		return;
	case 0x23: /* SEND_BREAK */
		status_in();
		return;
	}
	stall();
}

static void on_setup(void)
{
	uint8_t b[8];
	copy_in(b, 0, 8);
	setup.type = b[0];
	setup.request = b[1];
	setup.value = (uint16_t)(b[2] | b[3] << 8);
	setup.index = (uint16_t)(b[4] | b[5] << 8);
	setup.length = (uint16_t)(b[6] | b[7] << 8);
	ep0_pid = BUF_PID1;
	new_address = 0;
	EP_BUF(0, 0, 0) = 0;
	EP_BUF(0, 1, 0) = 0;
	switch (setup.type & 0x60) {
	case 0x00: standard(); break;
	case 0x20: class_request(); break;
	default: stall();
	}
}

/* Endpoint 0 has sent a packet. */
static void sent(void)
{
	if (stage == DATA_IN && (tx_left > 0 || tx_short)) {
		more_in();
	} else if (stage == DATA_IN) {
		stage = STATUS_OUT;
		ep0_pid = BUF_PID1;
		ep0_out();
	} else if (stage == STATUS_IN) {
		stage = IDLE;
		if (new_address)
			ADDR = new_address;
		if (leaving != STAY)
			usb_restart(leaving == TO_BOOTSEL, leaving_flags);
	}
}

/* Endpoint 0 has received one. */
static void received(void)
{
	if (stage != DATA_OUT) {
		stage = IDLE;
		return;
	}
	copy_in(line_coding, EP0_BUFFER, sizeof line_coding);
	uint32_t baud = line_coding[0] | (uint32_t)line_coding[1] << 8 | (uint32_t)line_coding[2] << 16;
	if (baud == 1200) {
		leaving = TO_BOOTSEL;
		leaving_flags = 0;
	}
	status_in();
}

static void on_reset(void)
{
	ADDR = 0;
	stage = IDLE;
	configure(false);
	dtr = false;
}

void usb_poll(void)
{
	uint32_t st = SIE_STATUS;
	if (st & ST_RESET) {
		SIE_STATUS = ST_RESET;
		on_reset();
	}
	uint32_t done = BUFF_STATUS;
	BUFF_STATUS = done;
	if (done & 1)
		sent();
	if (done & 2)
		received();
	if (st & ST_SETUP) {
		SIE_STATUS = ST_SETUP;
		on_setup();
	}
	/* A whole packet with nothing behind it: an empty one ends the transfer. */
	if (last_full && !((EP_BUF(EP_IN, 0, 0) | EP_BUF(EP_IN, 0, 1)) & BUF_AVAILABLE))
		usb_send(answer, 0);
}

bool usb_pending(void) { return INTS; }

void usb_start(uint64_t chip_id)
{
	for (int i = 0; i < 16; i++)
		serial[i] = "0123456789ABCDEF"[chip_id >> (60 - 4 * i) & 15];
	static const uint8_t coding[7] = {0x00, 0xc2, 0x01, 0, 0, 0, 8}; /* 115200 8N1 */
	for (unsigned i = 0; i < sizeof coding; i++)
		line_coding[i] = coding[i];
	for (uint32_t a = 0; a < 0x100; a += 4)
		REG(MEM + a) = 0;
	MUXING = MUX_TO_PHY | MUX_SOFTCON;
	POWER = POWER_VBUS | POWER_VBUS_OVERRIDE;
	MAIN_CTRL = MAIN_ENABLE;
	SIE_CTRL = SIE_EP0_INT;
	INTE = INT_BUFFERS | INT_RESET | INT_SETUP;
	SIE_CTRL_SET = SIE_PULLUP;
}

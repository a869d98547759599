/* usbecho: a USB serial port that sends back what it gets. 1200 baud, and the
 * reset interface that picotool knows, restart the board into BOOTSEL mode. */
#include "pico2.h"
#include "usbcdc.h"

typedef int (*get_sys_info)(uint32_t *words, uint32_t n, uint32_t flags);
typedef int (*reboot)(uint32_t flags, uint32_t delay_ms, uint32_t p0, uint32_t p1);

enum { REBOOT_NORMAL = 0, REBOOT_BOOTSEL = 2, SYS_INFO_CHIP = 1 };

static uint64_t chip_id(void)
{
	uint32_t words[8];
	get_sys_info f = (get_sys_info)rom_function(ROM_CODE('G', 'S'));
	if (!f || f(words, 8, SYS_INFO_CHIP) < 0)
		return 0;
	return (uint64_t)words[3] << 32 | words[2];
}

void usb_restart(bool bootsel, uint32_t flags)
{
	reboot f = (reboot)rom_function(ROM_CODE('R', 'B'));
	f(bootsel ? REBOOT_BOOTSEL : REBOOT_NORMAL, 10, bootsel ? flags : 0, 0);
}

int main(void)
{
	print("usbecho: a serial port over USB\n");
	usb_start(chip_id());
	/* Nothing is taken as an interrupt: it only ends the sleep. */
	interrupts_off();
	irq_enable(USB_IRQ, true);
	uint8_t packet[USB_PACKET];
	int n = -1;
	for (;;) {
		usb_poll();
		bool busy = false;
		if (n < 0 && (n = usb_receive(packet)) >= 0)
			busy = true;
		if (n >= 0 && usb_send(packet, (unsigned)n)) {
			n = -1;
			busy = true;
		}
		if (!busy && !usb_pending())
			wait_for_interrupt();
	}
}

/* Words of an image definition (datasheet 5.9.1). */
#define BLOCK_BEGIN 0xffffded3
#define BLOCK_END   0xab123579

#define ITEM_IMAGE_TYPE  0x00000142 /* type 0x42, one word, flags in the high half */
#define ITEM_ENTRY_POINT 0x00000344 /* type 0x44, three words: item, pc, sp */
#define ITEM_IGNORED     0x000001fe
#define ITEM_LAST(words) ((words) << 8 | 0xff)

/* Executable (bits 0-3: 1), RISC-V (bits 8-10: 1), RP2350 (bits 12-14: 1). */
#define IMAGE_EXE_RISCV_RP2350 0x11010000

#define ROM_RISCV_ENTRY 0x7dfc

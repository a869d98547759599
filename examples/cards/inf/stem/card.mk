# Builds NAME from SOURCES for TARGET into BUILD: rp2350-rv, rp2350-arm or
# native-amd64. stem-hw sets TARGET, BUILD and CROSS_COMPILE.
TARGET ?= rp2350-rv
BUILD  ?= build/$(TARGET)
STEM   := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
OUT    ?= $(BUILD)/$(NAME).elf

COMMON := -std=gnu17 -g -Og -Wall -Wextra -I$(STEM)
ifeq ($(TARGET),native-amd64)
CROSS_COMPILE ?=
CC      := $(or $(STEM_CC),gcc)
FLAGS   := $(COMMON) -O0
RUNTIME := $(STEM)/native.c
else
ifeq ($(TARGET),rp2350-rv)
CROSS_COMPILE ?= riscv64-unknown-elf-
MACHINE := -march=rv32imac_zicsr_zifencei -mabi=ilp32
else ifeq ($(TARGET),rp2350-arm)
CROSS_COMPILE ?= arm-none-eabi-
MACHINE := -mcpu=cortex-m33 -mthumb -mfloat-abi=soft
else
$(error there is no target $(TARGET))
endif
CC      := $(CROSS_COMPILE)gcc
FLAGS   := $(COMMON) $(MACHINE) -ffreestanding -fno-common -fno-tree-loop-distribute-patterns \
	-nostdlib -static -Wl,-T,$(STEM)/board.ld -Wl,--build-id=none
RUNTIME := $(STEM)/start.S $(STEM)/board.c $(STEM)/print.c
LIBS    := -lgcc
endif

$(OUT): $(SOURCES) $(RUNTIME) $(wildcard $(STEM)/*.h) $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -o $@ $(SOURCES) $(RUNTIME) $(LIBS)

.DEFAULT_GOAL := $(OUT)
.PHONY: clean
clean:
	rm -rf build

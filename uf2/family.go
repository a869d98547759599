package uf2

import (
	"fmt"
	"strconv"
	"strings"
)

// Families of Raspberry Pi chips. Source: pico-sdk,
// src/common/boot_uf2_headers/include/boot/uf2.h. The names are those that
// picotool prints and takes.
const (
	FamilyCYW43       = 0xe48bff55
	FamilyRP2040      = 0xe48bff56
	FamilyAbsolute    = 0xe48bff57
	FamilyData        = 0xe48bff58
	FamilyRP2350ArmS  = 0xe48bff59
	FamilyRP2350RISCV = 0xe48bff5a
	FamilyRP2350ArmNS = 0xe48bff5b
)

// Family names one family.
type Family struct {
	ID   uint32
	Name string
	Text string // what it is for, in a few words
}

var families = []Family{
	{FamilyCYW43, "cyw43-firmware", "firmware of the CYW43 radio chip"},
	{FamilyRP2040, "rp2040", "RP2040 program"},
	{FamilyAbsolute, "absolute", "raw flash contents, partitions ignored"},
	{FamilyData, "data", "data partition"},
	{FamilyRP2350ArmS, "rp2350-arm-s", "RP2350 program, Arm secure"},
	{FamilyRP2350RISCV, "rp2350-riscv", "RP2350 program, RISC-V"},
	{FamilyRP2350ArmNS, "rp2350-arm-ns", "RP2350 program, Arm non-secure"},
}

// others are families of other makers' chips that people drop on a Pico by
// mistake. Source: microsoft/uf2, utils/uf2families.json.
var others = map[uint32]string{
	0x16573617: "ATMEGA32", 0x1851780a: "SAML21", 0x1b57745f: "NRF52",
	0x1c5f21b0: "ESP32", 0x1e1f432d: "STM32L1", 0x202e3a91: "STM32L0",
	0x21460ff0: "STM32WL", 0x2abc77ec: "LPC55", 0x300f5633: "STM32G0",
	0x31d228c6: "GD32F350", 0x04240bdf: "STM32L5", 0x4c71240a: "STM32G4",
	0x4fb2d5bd: "MIMXRT10XX", 0x53b80f00: "STM32F7", 0x55114460: "SAMD51",
	0x57755a57: "STM32F4", 0x5a18069b: "FX2", 0x5d1a0a2e: "STM32F2",
	0x5ee21072: "STM32F1", 0x621e937a: "NRF52833", 0x647824b6: "STM32F0",
	0x68ed2b88: "SAMD21", 0x6b846188: "STM32F3", 0x6d0922fa: "STM32F407",
	0x6db66082: "STM32H7", 0x70d16653: "STM32WB", 0x7eab61ed: "ESP8266",
	0x7f83e793: "KL32L2", 0x8fb060fe: "STM32F407VG", 0xada52840: "NRF52840",
	0xbfdd4eee: "ESP32S2", 0xc47e5767: "ESP32S3", 0xd42ba06c: "ESP32C3",
	0x2b88d29c: "ESP32C2", 0x332726f6: "ESP32H2", 0x540ddf62: "ESP32C6",
	0x3d308e94: "ESP32P4",
}

// Families returns the families of Raspberry Pi chips, in order of ID.
func Families() []Family { return append([]Family(nil), families...) }

// FamilyName returns the name of a family, or its number in hexadecimal.
func FamilyName(id uint32) string {
	for _, f := range families {
		if f.ID == id {
			return f.Name
		}
	}
	if n, ok := others[id]; ok {
		return n
	}
	return fmt.Sprintf("0x%08x", id)
}

// FamilyText returns what a family is for, or "" if it is not known.
func FamilyText(id uint32) string {
	for _, f := range families {
		if f.ID == id {
			return f.Text
		}
	}
	if n, ok := others[id]; ok {
		return n + ", not a Raspberry Pi chip"
	}
	return ""
}

// ParseFamily reads a family by name (in any case, with _ or -) or number.
func ParseFamily(s string) (uint32, bool) {
	k := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
	for _, f := range families {
		if f.Name == k {
			return f.ID, true
		}
	}
	switch k {
	case "rp2350-arm":
		return FamilyRP2350ArmS, true
	}
	if n, err := strconv.ParseUint(k, 0, 32); err == nil && len(k) > 2 {
		return uint32(n), true
	}
	return 0, false
}

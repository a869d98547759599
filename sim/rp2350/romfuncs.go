package rp2350

// romFuncs are the functions of the ROM table (pico-sdk bootrom_constants.h,
// ROM_FUNC_*; order as in the A2 ROM).
var romFuncs = []romFunc{
	{"SR", "bootrom_state_reset", romStateReset},
	{"GS", "get_sys_info", romGetSysInfo},
	{"SC", "secure_call", romSecureCall},
	{"LP", "load_partition_table", romLoadPartitionTable},
	{"GP", "get_partition_table_info", romPartitionInfo},
	{"GB", "get_b_partition", romGetB},
	{"FA", "flash_runtime_to_storage_addr", romRuntimeToStorage},
	{"RB", "reboot", romReboot},
	{"OA", "otp_access", romOTPAccess},
	{"IF", "connect_internal_flash", romConnectFlash},
	{"RA", "flash_reset_address_trans", romResetATRANS},
	{"EX", "flash_exit_xip", romExitXIP},
	{"RE", "flash_range_erase", romRangeErase},
	{"RP", "flash_range_program", romRangeProgram},
	{"FC", "flash_flush_cache", romFlushCache},
	{"CX", "flash_enter_cmd_xip", romEnterCmdXIP},
	{"XM", "flash_select_xip_read_mode", romSelectXIPMode},
	{"FO", "flash_op", romFlashOp},
	{"RC", "set_rom_callback", romSetCallback},
	{"VB", "validate_ns_buffer", romValidateNSBuffer},
	{"SP", "set_ns_api_permission", romSetNSPermission},
	{"AB", "pick_ab_partition", romPickAB},
	{"EB", "explicit_buy", romExplicitBuy},
	{"CI", "chain_image", romChainImage},
	{"GU", "get_uf2_target_partition", romUF2Target},
	{"SS", "set_bootrom_stack", romSetStack},
}

// romStateReset resets state of this core (1), the other core (2), or all that
// is shared (4): locks, callbacks, Non-secure permissions.
func romStateReset(c *Chip, r *romCall) {
	what := r.arg(0)
	if what&1 != 0 {
		c.romStack[r.n.id] = [2]uint32{}
	}
	if what&2 != 0 {
		c.romStack[r.n.other.id] = [2]uint32{}
	}
	if what&4 != 0 {
		c.boot.free = 0xff
		for i := range 8 {
			c.boot.mem[btNSPermissions+i] = 0xc3
		}
		c.boot.setWord(btCallback, 0)
	}
	r.ret(romOK)
}

// romSetStack swaps the stack that shared functions run on. They need none
// here, but firmware reads the old one back.
func romSetStack(c *Chip, r *romCall) {
	p := r.arg(0)
	old := c.romStack[r.n.id]
	c.romStack[r.n.id] = [2]uint32{r.word(p), r.word(p + 4)}
	r.setWord(p, old[0])
	r.setWord(p+4, old[1])
	r.ret(romOK)
}

// romSetCallback exchanges the callback of secure_call; a negative pointer only
// asks.
func romSetCallback(c *Chip, r *romCall) {
	if r.arg(0) != 0 {
		r.ret(romInvalidArg)
		return
	}
	r.result = c.boot.word(btCallback)
	if int32(r.arg(1)) >= 0 {
		c.boot.setWord(btCallback, r.arg(1))
	}
}

// nsAPIs is the number of functions with Non-secure permissions.
const nsAPIs = 8

// romSetNSPermission allows or forbids a function to Non-secure callers; it
// returns whether it was allowed.
func romSetNSPermission(c *Chip, r *romCall) {
	n := r.arg(0)
	if n >= nsAPIs {
		r.ret(romInvalidArg)
		return
	}
	at := btNSPermissions + n
	old := c.boot.mem[at]
	c.boot.mem[at] = 0xc3
	if r.arg(1) != 0 {
		c.boot.mem[at] = 0xa5
	}
	r.ret(0)
	if old == 0xa5 {
		r.ret(1)
	}
}

// romSecureCall passes to the callback that secure code registered.
func romSecureCall(c *Chip, r *romCall) {
	f := c.boot.word(btCallback)
	if f == 0 {
		r.ret(romInvalidState)
		return
	}
	r.gone = true
	r.n.cpu.SetPC(f &^ 1)
}

// romValidateNSBuffer checks that a buffer belongs to Non-secure memory, for
// Secure functions that Non-secure code calls. Nothing is Non-secure unless an
// Arm program divides memory, so only an empty buffer passes.
func romValidateNSBuffer(c *Chip, r *romCall) {
	if r.arg(1) == 0 {
		r.result = r.arg(0)
		return
	}
	r.ret(0)
}

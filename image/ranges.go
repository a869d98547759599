package image

import (
	"fmt"
	"strings"
)

// ranges writes ascending numbers as "3, 5-9, 12", cut after some pieces.
func ranges(nums []uint32) string {
	const limit = 8
	var b strings.Builder
	pieces := 0
	for i := 0; i < len(nums); {
		j := i
		for j+1 < len(nums) && nums[j+1] == nums[j]+1 {
			j++
		}
		if pieces == limit {
			fmt.Fprintf(&b, " and %d more", len(nums)-i)
			break
		}
		if pieces > 0 {
			b.WriteString(", ")
		}
		if j > i {
			fmt.Fprintf(&b, "%d-%d", nums[i], nums[j])
		} else {
			fmt.Fprint(&b, nums[i])
		}
		pieces++
		i = j + 1
	}
	return b.String()
}

// blockList is "block 3" or "blocks 3, 5-9".
func blockList(nums []uint32) string {
	if len(nums) == 1 {
		return "block " + ranges(nums)
	}
	return "blocks " + ranges(nums)
}

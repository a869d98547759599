package card

import (
	"slices"
	"strings"
)

// Near returns the names that are near a word, nearest first, at most three.
func Near(word string, names []string) []string {
	type cand struct {
		name string
		d    int
	}
	var all []cand
	w := strings.ToLower(word)
	for _, n := range names {
		l := strings.ToLower(n)
		d := distance(w, l)
		if strings.HasPrefix(l, w) || strings.HasPrefix(w, l) {
			d = min(d, 1)
		}
		if d <= max(1, len(w)/2) && !slices.ContainsFunc(all, func(c cand) bool { return c.name == n }) {
			all = append(all, cand{n, d})
		}
	}
	slices.SortStableFunc(all, func(a, b cand) int { return a.d - b.d })
	var out []string
	for _, c := range all[:min(len(all), 3)] {
		out = append(out, c.name)
	}
	return out
}

// distance counts the letters to insert, delete, replace or swap.
func distance(a, b string) int {
	prev2, prev := []int(nil), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, cur
	}
	return prev[len(b)]
}

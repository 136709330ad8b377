// Package figure computes figures from measurements and formats them for people.
package figure

import (
	"math"
	"slices"
)

// Percentile is the smallest value such that at least p percent of the values are not above it
// (nearest rank), or 0 without values. The values are in ascending order.
func Percentile[T ~int | ~int64](sorted []T, p float64) T {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Median is the middle value, or the mean of the two in the middle; 0 without
// values. It leaves the order of its argument alone.
func Median[T ~int64 | ~float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

//go:build !race

package fakezk

const manyChildren = 100_000

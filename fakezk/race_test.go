//go:build race

package fakezk

// manyChildren are fewer where each costs more.
const manyChildren = 10_000

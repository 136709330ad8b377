// Package judgingtest has helpers for the tests of judges: histories made by hand, at random, and
// by a mutation of good ones.
package judgingtest

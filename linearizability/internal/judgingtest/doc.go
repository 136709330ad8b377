// Package judgingtest has helpers for the tests of judges: histories that are written as text, made
// at random, or made by a mutation of good ones.
package judgingtest

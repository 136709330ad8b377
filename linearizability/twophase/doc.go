// Package twophase judges two-phase commit.
package twophase

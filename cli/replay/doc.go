// Package replay are the commands that play scenario files: zksim run, replay and diff.
package replay

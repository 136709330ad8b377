// Package lock judges locks of all kinds, semaphores and elections.
package lock

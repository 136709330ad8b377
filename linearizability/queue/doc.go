// Package queue judges queues of all kinds.
package queue

// Package cache judges caches of znodes.
package cache

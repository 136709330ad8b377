// Package member judges groups and registries.
package member

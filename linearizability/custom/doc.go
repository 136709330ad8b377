// Package custom judges objects of your own.
package custom

// Package inspect shows what is in an engine as values of package view, and puts nodes
// into it past all clients.
package inspect

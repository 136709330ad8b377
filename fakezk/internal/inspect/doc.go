// Package inspect shows the state of an engine as values of package view, and puts nodes into it
// without a client.
package inspect

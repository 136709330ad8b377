// Package view has the values by which a test looks at a server: a [Node], a
// [Session], a [Watch] of a fakezk.Server or of a world at rest, and a [NodeSpec],
// of which Server.Snapshot and Server.Load make a list for a whole tree.
package view

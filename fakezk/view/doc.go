// Package view has the state of a server as values. A [Node], a [Session] and a [Watch] say what is
// there: Tree, Sessions and Watches of a fakezk.Server return them, and so does the result of a
// simulation. A [NodeSpec] describes a znode that is to be made: Server.Snapshot returns such
// values, and Server.Load takes them.
package view

// Package view has the types [Node], [Session] and [Watch], which a fakezk.Server and the result of
// a simulation return, and [NodeSpec], which Server.Snapshot returns and Server.Load takes.
package view

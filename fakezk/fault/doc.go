// Package fault defines faults as values: a kind ([Kinds] lists them), and the request, watch
// notification or time at which it acts. A [Fault] prints as one line, which [Parse] reads back:
//
//	drop-reply client=b request=5
//	stall 3s client=a op=getChildren2 request=1
//	cut client=b event=1 path=/lock/**
//	restart 200ms at=2s
//	error NoAuth client=a op=create request=2
//
// In a simulated world (sim.World.Plan) all kinds act. A fakezk.Server (Server.Inject) and the
// proxy before a real server (realworld.World.Plan) refuse some: docs/hunting.md has a table of
// which kind acts where. This package describes faults; package fakezk/internal/carry applies them.
package fault

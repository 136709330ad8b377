package judgingtest

import (
	"slices"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
)

// Simulator makes valid histories of an object with operations that take effect at one point. Three
// clients call it, and requests and replies are lost or late. For each kind of object, Begin draws
// a call, and Apply applies it to a model and records the server's changes, in one step.
type Simulator struct {
	*Fixture
	T     *rapid.T
	Begin func(client string) (kind, input string)
	Apply func(client, kind, input string) lin.Result
}

// caller is a client of a simulator.
type caller struct {
	name        string
	op          int
	kind, input string
	next        string // "" idle, "apply", "return" or "late": return, and apply after that
	late        bool   // an abandoned operation is still under way
	result      lin.Result
	got         lin.Outcome
}

// Play lets the clients act until enough steps are done and all clients are idle.
func (s *Simulator) Play() lin.History {
	callers := []*caller{{name: "a"}, {name: "b"}, {name: "c"}}
	for i, steps := 0, rapid.IntRange(5, 60).Draw(s.T, "steps"); ; i++ {
		busy := slices.DeleteFunc(slices.Clone(callers),
			func(c *caller) bool { return c.next == "" && !c.late })
		switch {
		case i < steps:
			s.act(rapid.SampledFrom(callers).Draw(s.T, "caller"))
		case len(busy) == 0:
			return s.History()
		default:
			s.act(busy[0])
		}
	}
}

func (s *Simulator) act(c *caller) {
	s.Step += 9 // room for mutations
	switch {
	case c.late && c.next == "":
		s.Apply(c.name, c.kind, c.input)
		c.late = false
	case c.next == "":
		c.kind, c.input = s.Begin(c.name)
		c.op, c.got, c.result = s.Call(c.name, c.kind, c.input), lin.OpOK, lin.Result{}
		c.next = rapid.SampledFrom([]string{"apply", "apply", "apply", "apply", "lost",
			"late"}).Draw(s.T, "fate")
	case c.next == "apply":
		c.result, c.next = s.Apply(c.name, c.kind, c.input), "return"
		if rapid.IntRange(0, 5).Draw(s.T, "reply") == 0 {
			c.result, c.got = lin.Result{}, lin.OpUnknown
		}
	case c.next == "return":
		s.Ret(c.op, c.got, c.result)
		c.next = ""
	default:
		s.Ret(c.op, lin.OpUnknown, lin.Result{})
		c.late, c.next = c.next == "late", ""
	}
}

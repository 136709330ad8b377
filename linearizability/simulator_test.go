package linearizability

import (
	"slices"

	"pgregory.net/rapid"
)

// simulator makes valid histories of an object with operations that take effect at one point. Three
// clients call it, and requests and replies are lost or late. For each kind of object, begin draws
// a call, and apply applies it to a model and records the server's changes, in one step.
type simulator struct {
	fixture
	t     *rapid.T
	begin func(client string) (kind, input string)
	apply func(client, kind, input string) Result
}

// caller is a client of a simulator.
type caller struct {
	name        string
	op          int
	kind, input string
	next        string // "" idle, "apply", "return" or "late": return, and apply after that
	late        bool   // an abandoned operation is still under way
	result      Result
	got         Outcome
}

// play lets the clients act until enough steps are done and all clients are idle.
func (s *simulator) play() History {
	callers := []*caller{{name: "a"}, {name: "b"}, {name: "c"}}
	for i, steps := 0, rapid.IntRange(5, 60).Draw(s.t, "steps"); ; i++ {
		busy := slices.DeleteFunc(slices.Clone(callers),
			func(c *caller) bool { return c.next == "" && !c.late })
		switch {
		case i < steps:
			s.act(rapid.SampledFrom(callers).Draw(s.t, "caller"))
		case len(busy) == 0:
			return s.history()
		default:
			s.act(busy[0])
		}
	}
}

func (s *simulator) act(c *caller) {
	s.step += 9 // room for mutations
	switch {
	case c.late && c.next == "":
		s.apply(c.name, c.kind, c.input)
		c.late = false
	case c.next == "":
		c.kind, c.input = s.begin(c.name)
		c.op, c.got, c.result = s.call(c.name, c.kind, c.input), OpOK, Result{}
		c.next = rapid.SampledFrom([]string{"apply", "apply", "apply", "apply", "lost",
			"late"}).Draw(s.t, "fate")
	case c.next == "apply":
		c.result, c.next = s.apply(c.name, c.kind, c.input), "return"
		if rapid.IntRange(0, 5).Draw(s.t, "reply") == 0 {
			c.result, c.got = Result{}, OpUnknown
		}
	case c.next == "return":
		s.ret(c.op, c.got, c.result)
		c.next = ""
	default:
		s.ret(c.op, OpUnknown, Result{})
		c.late, c.next = c.next == "late", ""
	}
}

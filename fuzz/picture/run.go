package picture

// run is the data of a page. Steps are lines of the trace, from 1, and times are microseconds of
// virtual time. A step one behind the last line stands for the end.
type run struct {
	Title    string    `json:"title"`
	Status   string    `json:"status"`
	Headline string    `json:"headline"`
	Summary  string    `json:"summary"`
	Meaning  string    `json:"meaning"`
	Repeat   string    `json:"repeat"`
	Scenario string    `json:"scenario"`
	Plan     []planned `json:"plan"`
	Verdicts []verdict `json:"verdicts"`
	Measured []string  `json:"measured"`

	Clients  []client  `json:"clients"`
	Servers  int       `json:"servers"` // with a lane each; 0: nothing is known of any
	States   []state   `json:"states"`
	Lines    []line    `json:"lines"`
	Messages []message `json:"messages"`
	Calls    []call    `json:"calls"`
	Places   []place   `json:"places"`
	Sessions []span    `json:"sessions"`
	CutOff   []span    `json:"cutOff"`
	Holds    []hold    `json:"holds"`
	Zombies  []span    `json:"zombies"`
	Strikes  []strike  `json:"strikes"`
	Changes  []change  `json:"changes"`
	Blamed   []string  `json:"blamed"`
	Order    *order    `json:"order"`
}

// planned is a fault of the plan, and whether it found anything to act on.
type planned struct {
	Fault string `json:"fault"`
	Step  int64  `json:"step"` // 0: it never acted
	means string // in words
}

type verdict struct {
	Property string  `json:"property"`
	Status   string  `json:"status"`
	Summary  string  `json:"summary"`
	Steps    []int64 `json:"steps"`
}

// client is a lane.
type client struct {
	Name       string   `json:"name"`
	Goroutines []string `json:"goroutines"`
}

// line is a line of the trace: time, actor, text and the kind by which it may be folded.
type line struct {
	Time  int64  `json:"t"`
	Actor string `json:"a"`
	Text  string `json:"x"`
	Fold  string `json:"f,omitempty"`
	// Sent and Read are the data that a request carries, and that its answer does.
	Sent string `json:"s,omitempty"`
	Read string `json:"r,omitempty"`
	// Server is the number of the server of a request, 0 if there is only one.
	Server int `json:"n,omitempty"`
}

// state is the state of a server, from a step to its next state.
type state struct {
	Server int    `json:"server"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Zxid   string `json:"zxid"`
	Leads  bool   `json:"leads,omitempty"`
	// Trouble says in words what is wrong with it, "" for nothing.
	Trouble string `json:"trouble,omitempty"`
}

// message is an arrow.
type message struct {
	Client string `json:"c"`
	Conn   int    `json:"conn"`
	Server int    `json:"server,omitempty"` // 0 if there is only one
	Up     bool   `json:"up"`
	Op     string `json:"op"`
	Sent   int64  `json:"sent"`
	From   int64  `json:"from"`
	Step   int64  `json:"step"`
	Lost   bool   `json:"lost,omitempty"`
	At     int    `json:"at,omitempty"` // the number of the place in the code, from 1
}

// place is a place in the code under test, or in its script: a line of a file, and its text.
type place struct {
	Where  string `json:"where"`
	Source string `json:"source,omitempty"`
}

// span is a bar in the lane of a client.
type span struct {
	Client string `json:"c"`
	Text   string `json:"x"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
}

type call struct {
	Client    string `json:"c"`
	Goroutine string `json:"g"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`  // the call without its result
	Text      string `json:"x"`     // the call with its result
	Depth     int    `json:"depth"` // how many calls of the goroutine were under way
	Outcome   string `json:"outcome"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
	Took      int64  `json:"took"` // -1: it never returned
	Deadline  int64  `json:"deadline"`
	Err       string `json:"err"`
	// At is the number of the place of the call. For a call of a script of ours it is 0; First is
	// that of the first request of the call.
	At    int `json:"at,omitempty"`
	First int `json:"first,omitempty"`
}

// hold is a bar of what a client holds: for the server until Held, for the client until Believed.
type hold struct {
	Client   string `json:"c"`
	Session  string `json:"session"`
	Path     string `json:"path"`
	From     int64  `json:"from"`
	Held     int64  `json:"held"`
	Believed int64  `json:"believed"`
}

// strike is a fault that acts, up to the step at which it is over.
type strike struct {
	Fault  string `json:"fault"`
	Client string `json:"c"`                // "" for all
	Server int    `json:"server,omitempty"` // 0: none, or the states of the servers do not show it
	Target string `json:"target"`
	Step   int64  `json:"step"`
	Until  int64  `json:"until"`
}

type change struct {
	Kind    string `json:"kind"`
	Step    int64  `json:"step"`
	Path    string `json:"path"`
	Data    string `json:"data"`
	Zxid    int64  `json:"zxid"`
	Session string `json:"session"` // "" for the server itself
	Client  string `json:"c"`
	Owner   string `json:"owner"` // of an ephemeral
}

type order struct {
	Taken []ordered `json:"taken"`
	Left  []ordered `json:"left"`
}

type ordered struct {
	Client string `json:"c"`
	Text   string `json:"x"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	State  string `json:"state"`
}

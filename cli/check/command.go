package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/picture"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/record"
)

// A Command is zksim check with its flags.
type Command struct {
	Kind  string   `arg:"" help:"Kind of object: lock, queue, register, and most others of list."`
	Files []string `arg:"" name:"file" help:"History, as package record writes it; of several processes a file each."`

	Format    string        `help:"Format of the file: zksim, jepsen (EDN), porcupine (JSON), or auto." enum:"auto,zksim,jepsen,porcupine" default:"auto" placeholder:"NAME"`
	Key       string        `help:"The object to judge, in a history of jepsen or porcupine with many keys." placeholder:"K"`
	Path      string        `help:"Znode of the object, or directory of its znodes. Needed with the server's side." placeholder:"PATH"`
	Items     string        `help:"Directory of the elements of a queue, if it is not that of --path." placeholder:"PATH"`
	Leases    int           `help:"Leases of a semaphore." default:"1" placeholder:"N"`
	Unordered bool          `help:"The queue need not be first in, first out."`
	Within    time.Duration `help:"Judge how late a view, a cache or the news of a revocation may be." placeholder:"D"`
	ServerLog string        `name:"server-log" help:"Directory with the transaction log of the real server (dataLogDir, or dataDir)." placeholder:"DIR"`
	HTML      string        `name:"html" help:"Write a picture of the history, an HTML page, to a file." placeholder:"OUT"`
	JSON      bool          `help:"Print JSON."`
}

// checked is a history with its verdicts.
type checked struct {
	*scenario.Outcome
	unjudged []linearizability.Verdict
	notes    []string
	clocks   []record.Clock // with which it was judged
}

// Run judges a history that was recorded elsewhere.
func (c *Command) Run(env *command.Env) error {
	k, err := findKind(c.Kind)
	if err != nil {
		return err
	}
	if len(c.Path) > 1 {
		c.Path = strings.TrimSuffix(c.Path, "/")
	}
	if c.ServerLog != "" && c.Path == "" {
		return pathMissing(k, "--server-log")
	}
	var r checked
	judged := make(chan error, 1)
	go func() { // a large history may take minutes
		var err error
		r, err = c.judged(k)
		judged <- err
	}()
	select {
	case <-env.Context.Done():
	case err = <-judged:
	}
	if err := cmp.Or(env.Context.Err(), err); err != nil {
		return err
	}
	if v, bad := usedAfterLoss(r.History); bad {
		r.Report.Worsen(v)
	}
	if r.verdict() == "ok" && !slices.ContainsFunc(r.History.Ops, func(op linearizability.Op) bool {
		return op.OK() && isMain(op.Kind)
	}) {
		return fmt.Errorf("%s: no %s has succeeded, so there is nothing to judge", c.name(),
			strings.Join(slices.DeleteFunc(slices.Clone(k.calls), func(call string) bool {
				return !isMain(call)
			}), " or "))
	}
	if c.HTML != "" {
		if err := picture.Save(c.HTML, r.Outcome, c.repeat(env)); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	if c.JSON {
		if err := env.JSON(c.forPrograms(env, r)); err != nil {
			return err
		}
	} else {
		c.report(env, r)
	}
	if r.verdict() != "ok" {
		return command.ErrViolated
	}
	return nil
}

// judged reads the files and judges them.
func (c *Command) judged(k kind) (checked, error) {
	h, err := c.read(k)
	if err != nil {
		return checked{}, err
	}
	if c.ServerLog == "" && c.Path+c.Items != "" && h.files[0].History.Server == nil {
		return checked{}, errors.New("--path and --items are for the changes at the server: give " +
			"--server-log, too")
	}
	return c.judgeAll(k, h)
}

// isMain reports whether a call does more than to look at a hold, or to end it.
func isMain(call string) bool {
	return !slices.Contains([]string{
		ops.Unlock, ops.Release, ops.Resign, ops.Use, ops.Hold, ops.Close,
	}, call)
}

// name is that of the history: the names of its files.
func (c *Command) name() string { return strings.Join(c.Files, ", ") }

// repeat is the command that judges the file again.
func (c *Command) repeat(env *command.Env) string {
	words := append([]string{env.Call, "check", c.Kind}, c.Files...)
	for _, f := range []struct {
		name, value string
		given       bool
	}{
		{"--format", c.Format, c.Format != formatAuto},
		{"--key", c.Key, c.Key != ""},
		{"--path", c.Path, c.Path != ""},
		{"--items", c.Items, c.Items != ""},
		{"--leases", fmt.Sprint(c.Leases), c.Leases != 1},
		{"--within", c.Within.String(), c.Within != 0},
		{"--server-log", c.ServerLog, c.ServerLog != ""},
	} {
		if f.given {
			words = append(words, f.name, f.value)
		}
	}
	if c.Unordered {
		words = append(words, "--unordered")
	}
	return strings.Join(words, " ")
}

// fits returns an error if a history is not one of the kind, or lacks data that the kind needs.
func (c *Command) fits(k kind, h linearizability.History) error {
	for _, op := range h.Ops {
		if !slices.Contains(k.calls, op.Kind) {
			return fmt.Errorf("line %d: op: %q; a %s has %s", op.Call, op.Kind, k.name,
				strings.Join(k.calls, ", "))
		}
		if err := k.checkSyntax(op); err != nil {
			return err
		}
	}
	switch {
	case len(h.Ops) == 0:
		return fmt.Errorf("there is no call to judge")
	case h.Server == nil && k.needsServer && c.ServerLog == "":
		return fmt.Errorf("a %s can only be judged with the changes at the server: "+
			"give --server-log and --path", k.name)
	case h.Server != nil && c.Path == "":
		return pathMissing(k, "a history with changes at the server")
	}
	if changed := pathsOf(h); len(changed) > 0 {
		return c.checkPaths(changed, h)
	}
	return nil
}

// pathMissing is the error for something that needs --path.
func pathMissing(k kind, by string) error {
	return fmt.Errorf("--path is missing: %s needs the znode of the %s, or the directory of its "+
		"znodes", by, k.name)
}

// allowedBy says without a name of a claim, which no flag has, what would allow a violation.
var allowedBy = strings.NewReplacer(
	"the claim StaleReads would allow it", "a read of a server that lags explains it",
	"the claim MayLose would allow it", "a queue that may lose elements may do so")

// judge judges a history. A call that breaks the rules of its kind makes the judge panic, with a
// text that names its steps.
func (c *Command) judge(k kind, file record.File) (r checked, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s", strings.TrimPrefix(fmt.Sprint(p), "linearizability: "))
		}
	}()
	claims := k.claims(c)
	report := linearizability.Judge(file.History, nil, claims)
	for i, v := range report.Verdicts {
		report.Verdicts[i].Summary = allowedBy.Replace(v.Summary)
		if z := report.ZombieWindows; v.Property == linearizability.Belief && len(z) > 0 &&
			v.Status == linearizability.OK {
			report.Verdicts[i].Summary += fmt.Sprintf(": by the server's log %s lost its hold at step %d, "+
				"and no notice told it so before step %d; no lock can prevent that, and a resource that "+
				"checks tokens can", z[0].Client, z[0].From, z[0].To)
		}
	}
	r.Outcome = scenario.Recorded(k.name, c.name(), file.History, report, file.Line)
	r.unjudged = linearizability.Unjudged(file.History, report, claims)
	r.unjudged = append(r.unjudged, r.takeUndecidedEnd()...)
	if _, judged := report.Verdict(linearizability.Fencing); !judged && k.fences &&
		len(report.Holds) > 0 {
		r.unjudged = append(r.unjudged, linearizability.Verdict{
			Property: linearizability.Fencing, Status: linearizability.Unknown,
			Summary: "not judged: no grant has a token",
		})
	}
	if file.History.Server == nil {
		r.notes = append(r.notes, "The server's side is not known: "+
			"the verdicts rest on the calls and notices of the clients alone.")
	}
	if !file.Complete {
		r.notes = append(r.notes,
			"The history has no end: the recording was not closed, or had an error.")
	}
	return r, nil
}

// usedAfterLoss looks for a client that worked with the resource although a notice had told it that
// its hold was over. It is the program's error, which the judges of locks do not look for.
func usedAfterLoss(h linearizability.History) (v linearizability.Verdict, bad bool) {
	h = h.Sorted()
	for i, use := range h.Ops {
		granted, known := holdOf(h.Ops[:i], use)
		if !known {
			continue
		}
		for _, n := range h.Notices {
			over := n.Kind == linearizability.SessionExpired || n.Kind == linearizability.LockLost
			if over && n.Client == use.Client && n.Step > granted.Return &&
				n.Step < use.Call && (n.Token == 0 || n.Token == granted.Token) {
				return linearizability.Verdict{
					Property: linearizability.Belief, Status: linearizability.Violated,
					Steps: []int64{granted.Return, n.Step, use.Call},
					Summary: fmt.Sprintf("%s works with the resource at step %d, although it was told at "+
						"step %d (%s) that the hold it was granted at step %d is over",
						use.Client, use.Call, n.Step, n.Kind, granted.Return),
				}, true
			}
		}
	}
	return v, false
}

// holdOf is the call that granted the hold of a use, if it was not released before the use.
func holdOf(before []linearizability.Op, use linearizability.Op) (
	granted linearizability.Op, known bool,
) {
	for i := len(before) - 1; i >= 0 && use.Kind == ops.Use; i-- {
		switch op := before[i]; {
		case op.Client != use.Client || op.Input != use.Input,
			op.Kind == ops.Use, op.Kind == ops.Hold:
		case !isMain(op.Kind):
			return granted, false // it was released
		case op.OK() && op.Return < use.Call:
			return op, true
		}
	}
	return granted, false
}

// takeUndecidedEnd takes the verdict on calls that had not returned out of the report, if it is
// unknown: the recording ended, and nothing is wrong with that.
func (r *checked) takeUndecidedEnd() (taken []linearizability.Verdict) {
	kept := []linearizability.Verdict{}
	for _, v := range r.Report.Verdicts {
		if v.Property == linearizability.Liveness && v.Status == linearizability.Unknown {
			taken = append(taken, v)
		} else {
			kept = append(kept, v)
		}
	}
	r.Report.Verdicts = kept
	return taken
}

// verdict is the verdict in a few words.
func (r checked) verdict() string {
	if p := r.Property(); p != "" {
		return p + " is violated"
	}
	if r.Status() == linearizability.Unknown {
		return "undecided"
	}
	return "ok"
}

// report prints the verdicts. The lines of the history are shown if one is not ok.
func (c *Command) report(env *command.Env, r checked) {
	if r.verdict() != "ok" {
		env.Printf("%s\n", r.Story())
	}
	env.Printf("verdicts:\n")
	for _, v := range r.Verdicts() {
		env.Printf("  %s\n", v)
	}
	for _, v := range r.unjudged {
		env.Printf("  %s\n", v)
	}
	for _, m := range r.Measurements() {
		env.Printf("  %s\n", m)
	}
	for _, n := range r.notes {
		env.Printf("%s\n", n)
	}
	env.Printf("\n%s: %s\n", c.name(), r.verdict())
}

// Report is a history with its verdicts, for programs.
type Report struct {
	File     string         `json:"file"`
	Kind     string         `json:"kind"`
	Clients  []string       `json:"clients"`
	Calls    int            `json:"calls"`
	Status   string         `json:"status"`
	Property string         `json:"property,omitempty"`
	Summary  string         `json:"summary,omitempty"`
	Verdicts []show.Verdict `json:"verdicts"`
	Unjudged []show.Verdict `json:"unjudged"`
	Notes    []string       `json:"notes"`
	Story    string         `json:"story"`
	Repeat   string         `json:"repeat"`
}

func (c *Command) forPrograms(env *command.Env, r checked) Report {
	return Report{
		File: c.name(), Kind: c.Kind, Clients: r.Clients(), Calls: len(r.History.Ops),
		Status: r.Status().String(), Property: r.Property(), Summary: r.Summary(),
		Verdicts: show.VerdictsOf(r.Verdicts()), Unjudged: show.VerdictsOf(r.unjudged),
		Notes: append([]string{}, r.notes...), Story: r.Story(), Repeat: c.repeat(env),
	}
}

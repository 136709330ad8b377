package picture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// exhibit plays the scenario of an exhibit of the gallery.
func exhibit(t *testing.T, slug string) *scenario.Outcome {
	t.Helper()
	name := filepath.Join("..", "gallery", "testdata", slug+".yaml")
	file, err := saved.Load(name, gallery.Catalogue().Find)
	check.OK(t, err)
	return fuzztest.Run(t, file.Scenario)
}

// pageOf is the picture of a run.
func pageOf(t *testing.T, o *scenario.Outcome) []byte {
	t.Helper()
	text, err := draw(o, "zksim replay found.yaml")
	check.OK(t, err)
	return text
}

// TestArrowsGoFromSendingToArrival: the create of protected-create-fails-twice is sent before line
// 8, a fault takes its reply, and the second request is taken by a fault.
func TestArrowsGoFromSendingToArrival(t *testing.T) {
	r := runOf(exhibit(t, "protected-create-fails-twice"))
	at := slices.IndexFunc(r.Messages, func(m message) bool { return m.Op == "create" })
	create := r.Messages[at]
	if line := r.Lines[create.Step-1]; !strings.HasPrefix(line.Text, "-> #1 create") ||
		create.Sent >= line.Time || create.From > create.Step || create.Lost {
		t.Errorf("the create is %+v, and arrives at %+v", create, line)
	}
	if slices.ContainsFunc(r.Messages, func(m message) bool {
		return !m.Up && m.From == create.Step && !m.Lost
	}) {
		t.Error("the reply arrives, which the fault has dropped")
	}
	lost := slices.IndexFunc(r.Messages, func(m message) bool { return m.Lost && m.Step > 0 })
	if lost < 0 || r.Messages[lost].Step != r.Strikes[1].Step {
		t.Errorf("no message is lost at the second fault: %+v", r.Strikes)
	}
}

func TestFaultsAreMarked(t *testing.T) {
	r := runOf(exhibit(t, "leader-by-old-path"))
	if len(r.Strikes) != 2 || len(r.Plan) != 2 {
		t.Fatalf("%d faults of %d act", len(r.Strikes), len(r.Plan))
	}
	for i, s := range r.Strikes {
		if line := r.Lines[s.Step-1]; line.Actor != "fault" || s.Step != r.Plan[i].Step ||
			!strings.HasPrefix(line.Text, s.Fault) {
			t.Errorf("fault %+v is at line %+v", s, line)
		}
	}
	if stall := r.Strikes[0]; r.Lines[stall.Until-2].Time >= r.Lines[stall.Step-1].Time+1_000_000 {
		t.Errorf("%+v ends too late", stall)
	}
}

// TestHoldsOutliveTheirSession: b believes on after the server has ended its session.
func TestHoldsOutliveTheirSession(t *testing.T) {
	r := runOf(exhibit(t, "holder-not-told-of-expiry"))
	i := slices.IndexFunc(r.Holds, func(h hold) bool { return h.Client == "b" })
	if i < 0 || r.Holds[i].From != 28 || r.Holds[i].Held >= r.Holds[i].Believed {
		t.Fatalf("the holds are %+v", r.Holds)
	}
	ended := slices.IndexFunc(r.Sessions, func(s span) bool {
		return s.Client == "b" && s.To <= r.Holds[i].Held
	})
	if ended < 0 || len(r.CutOff) == 0 {
		t.Errorf("sessions %+v, cut off %+v", r.Sessions, r.CutOff)
	}
}

func TestZnodesAreBlamed(t *testing.T) {
	r := runOf(exhibit(t, "vanished-predecessor"))
	if want := []string{"/lock/_c_G4-lock-0000000003"}; !slices.Equal(r.Blamed, want) {
		t.Errorf("blamed are %q; want %q", r.Blamed, want)
	}
	for text, want := range map[string]bool{
		"waits for /a/b": true, "/a/b, which": true, "/a/bc": false, "/a/b/c": false, "": false,
	} {
		if names(text, "/a/b") != want {
			t.Errorf("%q names /a/b: %v", text, !want)
		}
	}
}

func TestPingsAndRepetitionsAreFolded(t *testing.T) {
	r := runOf(exhibit(t, "exactly-enough"))
	folds := map[string]int{}
	for i, l := range r.Lines {
		folds[l.Fold]++
		if strings.HasSuffix(l.Text, "ping") != (l.Fold == foldPing) &&
			!strings.HasPrefix(l.Text, "<- ping") {
			t.Errorf("line %d, %q, is folded as %q", i+1, l.Text, l.Fold)
		}
	}
	if folds[foldPing] == 0 || folds[foldRepetition] < folds[""] {
		t.Errorf("folds: %v", folds)
	}
	for _, v := range r.Verdicts {
		for _, step := range v.Steps {
			if r.Lines[step-1].Fold == foldRepetition {
				t.Errorf("step %d, which a verdict names, is folded", step)
			}
		}
	}
}

// TestLinearizationIsShown beside the calls, if the kind of object has a model.
func TestLinearizationIsShown(t *testing.T) {
	r := runOf(exhibit(t, "empty-list-owns"))
	if r.Order == nil || len(r.Order.Taken)+len(r.Order.Left) == 0 {
		t.Errorf("no order of the calls of a lock: %+v", r.Order)
	}
	if r := runOf(exhibit(t, "all-watch-leaving")); r.Order != nil {
		t.Errorf("a double barrier has no model, and an order: %+v", r.Order)
	}
}

// TestCallsHaveTheirSource: the place of a call in the code, and the line there.
func TestCallsHaveTheirSource(t *testing.T) {
	for _, test := range []struct {
		o             *scenario.Outcome
		where, source string
	}{
		{exhibit(t, "empty-list-owns"), "", ""}, // the script of package object is nobody's code
		{hostileRun(t), "github.com/zksim/zksim/fuzz/picture/run_test.go:", "_ = p.Do(evil, evil, "},
	} {
		r := runOf(test.o)
		p := r.at(r.Calls[0].At)
		if (p == place{}) != (test.where == "") || !strings.HasPrefix(p.Where, test.where) ||
			!strings.HasPrefix(p.Source, test.source) {
			t.Errorf("a call is at %+v; want %q, %q", p, test.where, test.source)
		}
	}
}

// at is a place of a page by its number, the zero place for 0.
func (r run) at(number int) place {
	if number == 0 {
		return place{}
	}
	return r.Places[number-1]
}

// TestRequestsHaveTheirSource: the place in the code that sends each request, also one that a fault
// takes, and that of the first request of each call of an object.
func TestRequestsHaveTheirSource(t *testing.T) {
	for _, o := range []*scenario.Outcome{ownRun(t, 1), ownRun(t, 3)} {
		r := runOf(o)
		for _, m := range r.Messages {
			p, method := r.at(m.At), map[string]string{"create": "Create", "exists": "Exists"}[m.Op]
			at := strings.HasPrefix(p.Where, "github.com/zksim/zksim/fuzz/picture/run_test.go:") &&
				strings.Contains(p.Source, "l.conn."+method)
			if at != (method != "") || !at && p != (place{}) {
				t.Errorf("%+v is sent at %+v", m, p)
			}
		}
		for _, c := range r.Calls {
			if p := r.at(c.First); !strings.Contains(p.Source, "l.conn.Create") {
				t.Errorf("the first request of %+v is sent at %+v", c, p)
			}
		}
		check.Equal(t, len(r.Places), 2, "places")
	}
}

// ownLock is a user's lock.
type ownLock struct{ conn *zk.Conn }

func (l ownLock) Lock(ctx context.Context) error {
	_, err := l.conn.Create("/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		if there, _, gone, _ := l.conn.ExistsW("/lock"); there {
			select {
			case <-gone:
			case <-ctx.Done():
			}
		}
	}
	return err
}

func (l ownLock) Unlock(context.Context) error { return l.conn.Delete("/lock", -1) }

// ownRun is a run of ownLock with a lost reply and a lost request.
func ownRun(t *testing.T, goroutines int) *scenario.Outcome {
	t.Helper()
	w := object.Lock(func(env object.Env) object.Locker { return ownLock{env.Conn} })
	w.Impl = "ownLock"
	return fuzztest.Run(t, scenario.Scenario{Workload: w, Seed: 1,
		Script: scenario.Script{Clients: 2, Rounds: 2, Goroutines: goroutines},
		Plan: fuzztest.Plan(t, "drop-reply client=a op=create request=1",
			"drop-request client=b op=create request=1")})
}

// TestThePageHasTheMakerOfTheBlamedZnode, as the story has it.
func TestThePageHasTheMakerOfTheBlamedZnode(t *testing.T) {
	page := string(pageOf(t, exhibit(t, "protected-create-fails-twice")))
	check.Contains(t, page, `made at <code id="maker">`)
	check.Equal(t, strings.Contains(string(pageOf(t, hostileRun(t))), `id="maker"`), false)
}

// TestMeaning: a sentence for a reader who does not know ZooKeeper.
func TestMeaning(t *testing.T) {
	for slug, want := range map[string]string{
		"cleanup-tried-once":             "From now on no client gets this lock until a's session ends",
		"foreign-child-owns":             "no client gets this lock until somebody deletes /lock/readme by hand",
		"release-without-finally":        "a and b wait for each other",
		"watch-on-nothing":               "From now on a and b wait in vain for the lock",
		"timeout-begins-anew":            "b's lock() (steps 26 to 291) goes on for 5.057s after the limit",
		"session-before-sequence":        "b and a own the lock at the same time (steps 36 to 38)",
		"unlocks-by-name":                "but has lost it at the server. a owns it, too (steps 38 to 43)",
		"count-of-the-past":              "a's get() (steps 72 to 81) is answered “83”, and at no moment",
		"unregister-races-reconnect":     "a is in the list from step 40 on, although it has left",
		"consumer-deletes-anothers-lock": "a2 can be taken twice",
		"leader-at-a-deposed-server":     "at no moment of it was that so: nobody led then. What c",
		"leader-of-the-past":             "at no moment of it was that so: a led then. What b",
		"copy-never-stale":               "shows what is no longer so as if it were",
		"both-upgrade":                   "rule “one writes at a time” is broken by a's lock(write)",
		"refused-by-own-node":            "a's join(a) (steps 18 to 21) fails with “zk: node already exists”",
	} {
		if got := meaning(exhibit(t, slug)); !strings.Contains(got, want) {
			t.Errorf("%s means %q; want %q", slug, got, want)
		}
	}
	names, err := filepath.Glob("../gallery/testdata/*.yaml")
	check.OK(t, err)
	for i, name := range names {
		if !testrun.Full() && i%10 != 0 {
			continue
		}
		o := exhibit(t, strings.TrimSuffix(filepath.Base(name), ".yaml"))
		if o.Property() != "" && meaning(o) == "" {
			t.Errorf("%s, %s, means nothing", name, o.Property())
		}
	}
}

func TestSameScenarioSamePage(t *testing.T) {
	for _, slug := range []string{"vanished-predecessor", "empty-list-owns"} {
		if !slices.Equal(pageOf(t, exhibit(t, slug)), pageOf(t, exhibit(t, slug))) {
			t.Errorf("two pages of %s differ", slug)
		}
	}
	if !slices.Equal(pageOf(t, hostileRun(t)), pageOf(t, hostileRun(t))) ||
		!slices.Equal(pageOf(t, ownRun(t, 3)), pageOf(t, ownRun(t, 3))) {
		t.Error("two pages of another run differ")
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	page := string(pageOf(t, exhibit(t, "empty-list-owns")))
	for _, part := range []string{"default-src 'none'", "zksim replay found.yaml", "<noscript>"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	for _, part := range []string{"http://", "https://", " src=", "@import", "url(http"} {
		for rest := page; ; {
			_, after, found := strings.Cut(rest, part)
			if !found {
				break
			}
			if rest = after; !strings.HasPrefix(after, "www.w3.org/2000/svg") {
				t.Errorf("the page has %s%.40s", part, after)
			}
		}
	}
}

const evil = `</script><script>evil=1</script><b class=evil>&<!--`

// hostileRun is a run with markup in every text that the code under test decides.
func hostileRun(t *testing.T) *scenario.Outcome {
	t.Helper()
	return fuzztest.Run(t,
		scenario.Scenario{Seed: 1, Script: scenario.Script{Clients: 1, Rounds: 1},
			Plan: fuzztest.Plan(t, "cut client=a request=1"),
			Workload: scenario.Workload{
				Name: evil, Impl: evil,
				Nodes: map[string]string{"/" + strings.ReplaceAll(evil, "/", "|"): evil},
				Play: func(p *scenario.Player, _ scenario.Script) {
					_ = p.Do(evil, evil, func(context.Context) (linearizability.Result, error) {
						_, _, err := p.Conn().Get("/" + strings.ReplaceAll(evil, "/", "|"))
						return linearizability.Result{Output: evil}, err
					})
				},
				Judge: func(scenario.Evidence) (r linearizability.Report, err error) {
					r.Worsen(linearizability.Verdict{Property: evil, Summary: evil + " at step 2",
						Status: linearizability.Violated, Steps: []int64{2}})
					return r, nil
				},
			}})
}

// TestNoTextEndsTheScript: the page has its two scripts, and no markup of the code under test.
func TestNoTextEndsTheScript(t *testing.T) {
	drawn, err := draw(hostileRun(t), evil)
	check.OK(t, err)
	check.Contains(t, string(drawn), "a promise that its own test names")
	page := string(drawn) + faultsHTML(nil, []planned{{Fault: evil}})
	if n := strings.Count(page, "</script"); n != 2 {
		t.Errorf("the page has %d ends of scripts; want 2", n)
	}
	for _, part := range []string{"<b ", "<script>evil", "&<!--"} {
		if strings.Contains(page, part) {
			t.Errorf("the page has %s", part)
		}
	}
}

// TestIndex: the index of a directory names all pictures there, and nothing else enters it.
func TestIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p[1]*")
	check.OK(t, Add(dir, "one & only.html", exhibit(t, "empty-list-owns"), ""))
	check.OK(t, os.WriteFile(filepath.Join(dir, "foreign.html"), []byte("<p id=x>foreign"), 0o666))
	check.OK(t, Add(dir, "two.html", hostileRun(t), evil))
	index := testrun.ReadFile(t, filepath.Join(dir, "index.html"))
	for _, part := range []string{"<h1>2 pictures</h1>", `<a href="one%20&amp;%20only.html">safety is`,
		`<a href="two.html">`, "without a znode of its own", "but never got it at the server. Another client can get it",
		"lock empty-list-owns, clients:", "at step 2"} {
		check.Contains(t, index, part)
	}
	for _, part := range []string{"foreign", "<script", "<b ", "index.html"} {
		if strings.Contains(index, part) {
			t.Errorf("the index has %s:\n%s", part, index)
		}
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", ".*"))
	if err != nil || len(names) > 0 {
		t.Errorf("left are %q, %v", names, err)
	}
}

// TestSave makes the directory, and an error names the file that cannot be written.
func TestSave(t *testing.T) {
	o := exhibit(t, "empty-list-owns")
	name := filepath.Join(t.TempDir(), "pages", "found.html")
	check.OK(t, Save(name, o, ""))
	if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), "<!doctype") {
		t.Errorf("the file is %.40q: %v", text, err)
	}
	if err := Save(filepath.Join(name, "below.html"), o, ""); err == nil ||
		!strings.Contains(err.Error(), name) {
		t.Errorf("a page below a file: error %v, want one that names it", err)
	}
}

// TestTheMisdeedIsDrawn: the bar of a client that goes on without its hold has the steps of the
// bold sentence, also if the judge has no hold or no zombie window there.
func TestTheMisdeedIsDrawn(t *testing.T) {
	for slug, want := range map[string]span{
		"holder-not-told-of-expiry": {"b", "lock", 31, 84}, "waiter-deletes-owner": {"b", "lock", 46, 82},
		"dying-node-owns": {"c", "lock", 220, 223}, "leader-deaf-to-expiry": {"a", "leadership", 21, 47},
	} {
		r := runOf(exhibit(t, slug))
		check.Contains(t, r.Meaning, fmt.Sprintf("%s goes on as the owner of the %s (steps %d to %d), but",
			want.Client, want.Text, want.From, want.To))
		check.Equal(t, len(r.Zombies), 1, "zombies of %s", slug)
		want.Text = r.Zombies[0].Text
		check.Equal(t, r.Zombies[0], want, "the zombie of %s", slug)
	}
}

// TestFaultsInWords: the words of a fault are about its own client, server and moment.
func TestFaultsInWords(t *testing.T) {
	for text, want := range map[string]string{
		"isolate 10s server=1 at=16ms": "server 1 does not reach the others for 10s: it answers reads, " +
			"and writes wait",
		"cut client=a at=10.616s":         "a's connection is reset",
		"cut server=2 at=1s":              "each client's connection to server 2 is reset",
		"cut client=a request=2":          "a's connection is reset after the reply",
		"cut event=1":                     "the connection is reset before the event arrives",
		"expire client=b at=25ms":         "b's session expires at the server",
		"expire request=2":                "the session expires at the server before the request is applied",
		"lag 1s client=a at=1s":           "a's server is behind for 1s, and its reads are old; if it leads",
		"cut-mid-frame client=a event=1":  "half of the event arrives, then a's connection is reset",
		"restart 2s server=3 at=1s":       "server 3 restarts: its connections are reset, dials fail for 2s",
		"error NoAuth client=a request=1": "the reply is the error NoAuth, and the request is not applied",
	} {
		f, err := fault.Parse(text)
		check.OK(t, err)
		if got := meansOf(f); got != want && (len(want) < 35 || !strings.HasPrefix(got, want)) {
			t.Errorf("%s means %q; want %q", text, got, want)
		}
	}
}

// recording is a history of a lock that was recorded elsewhere. With the server's side a's session
// ends while a believes that it holds.
func recording(server bool) *scenario.Outcome {
	h := linearizability.History{End: 4, EndTime: 4 * time.Second, Ops: []linearizability.Op{
		{Client: "a", Kind: "lock", Call: 1, Return: 2, CallTime: time.Second,
			ReturnTime: time.Second, Outcome: linearizability.OpOK},
		{Client: "a", Kind: "unlock", Call: 4, Return: -1, CallTime: 4 * time.Second,
			Outcome: linearizability.OpPending},
	}}
	r := linearizability.Report{Verdicts: []linearizability.Verdict{{
		Property: linearizability.Belief,
		Summary:  "beliefs overlap at most inside 1 zombie window"}}}
	if server {
		h.Server = []linearizability.ServerEvent{{Step: 3, Time: 3 * time.Second,
			Kind: linearizability.SessionEnded, Owner: 1}}
		r.Verdicts[0].Summary += ": a lost its hold at step 3"
		r.Holds = []linearizability.Hold{{Client: "a", Session: 1, From: 2, Held: 3, Believed: 4}}
	}
	return scenario.Recorded("lock", "h.jsonl", h, r, nil)
}

// TestRecordingsSayWhatIsKnown: nobody knows the faults of a recording. It has a lane of the server
// only if the server's side is recorded, and its zombie window stands beside the verdict.
func TestRecordingsSayWhatIsKnown(t *testing.T) {
	for _, server := range []bool{false, true} {
		page := string(pageOf(t, recording(server)))
		check.Contains(t, page, "<dd>a recording: which faults there were is not known</dd>")
		check.Equal(t, strings.Contains(page, `"servers":1,`), server)
		check.Equal(t, strings.Contains(page, `<p id="summary">beliefs overlap at most inside 1 zombie `+
			`window: a lost its hold at step 3</p>`), server)
	}
	fine := fuzztest.Run(t, scenario.Scenario{
		Seed: 1, Script: scenario.Script{Clients: 2, Rounds: 1},
		Workload: fuzztest.Builtin(t, "lock", "recipes.Lock")})
	check.Contains(t, string(pageOf(t, fine)), "<dd>none</dd>")
}

// TestUseAfterALossIsDrawn in a recording without the server's side: from the notice on.
func TestUseAfterALossIsDrawn(t *testing.T) {
	for _, told := range []linearizability.NoticeKind{
		linearizability.SessionExpired, linearizability.LockLost,
	} {
		op := linearizability.Op{Client: "a", Kind: "lock", Call: 1, Return: 2,
			Outcome: linearizability.OpOK}
		use, unlock := op, op
		use.Kind, use.Call, use.Return = "use", 4, 5
		unlock.Kind, unlock.Call, unlock.Return = "unlock", 6, 7
		r := runOf(scenario.Recorded("lock", "h.jsonl", linearizability.History{
			Ops: []linearizability.Op{op, use, unlock}, End: 7,
			Notices: []linearizability.Notice{{Client: "a", Kind: told, Step: 3}},
		}, linearizability.Report{
			Verdicts: []linearizability.Verdict{{Property: linearizability.Belief,
				Status: linearizability.Violated, Steps: []int64{2, 3, 4}}},
			Holds: []linearizability.Hold{{Client: "a", From: 2, Held: 1, Believed: 3}},
		}, nil))
		check.Contains(t, r.Meaning, "a goes on as the owner of the lock (steps 3 to 6), but")
		check.Equal(t, fmt.Sprint(len(r.Zombies), r.Zombies[0].From, r.Zombies[0].To), "1 3 6")
	}
}

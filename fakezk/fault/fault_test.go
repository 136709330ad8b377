package fault

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
	"pgregory.net/rapid"
)

// anyFault draws a valid fault.
var anyFault = rapid.Custom(func(t *rapid.T) Fault {
	info := rapid.SampledFrom(slices.Concat(faultKinds, givenKinds)).Draw(t, "kind")
	word := rapid.StringMatching(`[A-Za-z0-9_-]{1,5}`)
	duration := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(1, int64(MostDuration)).Draw(t, "ns"))
	})
	f := Fault{Kind: info.Kind}
	if info.Lasts {
		f.For = duration.Draw(t, "for")
	}
	if info.Kind.TakesCode() {
		f.Code = rapid.SampledFrom(proto.Errors()).Draw(t, "code").String()
	}
	if rapid.Bool().Draw(t, "client?") {
		f.Client = word.Draw(t, "client")
	}
	var points []string
	for point, takes := range map[string]bool{"request": info.OnRequest, "event": info.OnEvent,
		"at": info.OnTime} {
		if takes {
			points = append(points, point)
		}
	}
	slices.Sort(points)
	switch rapid.SampledFrom(points).Draw(t, "point") {
	case "at":
		f.At = duration.Draw(t, "at")
		if f.Kind.strikesServer() {
			f.Server = rapid.IntRange(0, 9).Draw(t, "server")
		}
		return f
	case "event":
		f.Event = rapid.IntRange(1, 1_000_000_000).Draw(t, "event")
	default:
		f.Request = rapid.IntRange(1, 1_000_000_000).Draw(t, "request")
		if rapid.Bool().Draw(t, "op?") {
			f.Op = rapid.SampledFrom([]string{"create", "delete", "getData", "multi"}).Draw(t, "op")
		}
	}
	f.Conn = rapid.IntRange(0, 9).Draw(t, "conn")
	f.Server = rapid.IntRange(0, 9).Draw(t, "server")
	f.Path = rapid.SampledFrom([]string{"", "/", "/a", "/a/*", "/lock/**", "/[a-c]/x?", "/é",
		"/a=b"}).Draw(t, "path")
	return f
})

func TestFaultSurvivesTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFault.Draw(t, "fault")
		check.OK(t, f.Validate())
		got, err := Parse(f.String())
		if err != nil || got != f {
			t.Fatalf("%q reads as %+v, %v; want %+v", f, got, err, f)
		}
	})
}

func TestParseFaultIsLooseAboutSpaceAndOrder(t *testing.T) {
	want := Fault{Kind: Stall, For: 3 * time.Second, Client: "a", Op: "getData", Request: 1}
	for _, line := range []string{
		"stall 3s client=a op=getData request=1", "  stall\t3000ms  request=1 op=getData client=a ",
		"stall 0.05m request=1 client=a op=getData",
	} {
		if got, err := Parse(line); err != nil || got != want {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
}

func TestParseFaultSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ line, want string }{
		{"", `fault is empty; expected a kind such as "drop-reply"`},
		{"  ", `fault is empty`},
		{"explode request=1", `unknown fault kind "explode"; expected one of drop-request, drop-reply,`},
		{"drop-reqest request=1", `unknown fault kind "drop-reqest" (did you mean drop-request?); expected`},
		{"cut", `expected exactly one of request=, event= and at=`},
		{"cut request=1 at=2s", `expected exactly one of`},
		{"cut request=1 event=1", `expected exactly one of`},
		{"cut request=0", `request=0: expected a whole number from 1`},
		{"cut request=-1", `request=-1: expected a whole number from 1`},
		{"cut request=x", `request=x: expected a whole number from 1`},
		{"cut request=99999999999", `expected a whole number from 1`},
		{"cut request=1 conn=0", `conn=0: expected a whole number from 1`},
		{"cut request", `duration "request": expected a positive duration`},
		{"cut 3s request=1", `cut takes no duration`},
		{"stall request=1", `stall needs a duration, as in "stall 2s ..."`},
		{"stall -3s request=1", `duration "-3s": expected a positive duration`},
		{"stall 3 request=1", `duration "3": expected a positive duration`},
		{"stall 25h request=1", `at most 24h0m0s`},
		{"stall 3s 4s request=1", `word "4s" is not key=value`},
		{"cut request=1 client=", `word "client=" is not key=value`},
		{"cut request=1 colour=red", `unknown selector "colour"; expected client, conn, server, op, path, request, event or at`},
		{"cut request=1 request=2", `request is given twice`},
		{"error request=1", `error needs a code, as in "error NoAuth ..."; expected one of SystemError,`},
		{"error noauth request=1", `no error is called "noauth" (did you mean NoAuth?); expected one of SystemError,`},
		{"error ok request=1", `no error is called "ok"`},
		{"error 3s request=1", `no error is called "3s"`},
		{"error NoAuth 3s request=1", `word "3s" is not key=value`},
		{"error NoAuth event=1", `error takes request=`},
		{"cut NoAuth request=1", `duration "NoAuth": expected a positive duration`},
		{"drop-reply event=1", `drop-reply takes request=`},
		{"expire event=1", `expire takes request= or at=`},
		{"delay 1s at=1s", `delay takes request= or event=`},
		{"cut request=1 op=creat", `no operation is called "creat"`},
		{"cut at=1s op=create", `op, path and conn do not go with at=`},
		{"cut at=1s path=/a", `op, path and conn do not go with at=`},
		{"cut at=1s conn=1", `op, path and conn do not go with at=`},
		{"cut request=1 server=0", `server=0: expected a whole number from 1`},
		{"expire at=1s server=2", `server and at do not go together with expire`},
		{"cut event=1 op=create", `op does not go with event=`},
		{"cut at=0s", `at "0s": expected a positive duration`},
		{"cut request=1 path=/[", `path is not a glob`},
	}
	for _, test := range tests {
		f, err := Parse(test.line)
		if err == nil {
			t.Errorf("%q reads as %+v", test.line, f)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v; want %s", test.line, err, test.want)
		}
	}
}

func TestEveryFaultKindIsDescribed(t *testing.T) {
	for _, info := range Kinds() {
		if info.Meaning == "" || !(info.OnRequest || info.OnEvent || info.OnTime) {
			t.Errorf("%+v", info)
		}
	}
	Kinds()[0].Kind = "changed"
	if faultKinds[0].Kind == "changed" {
		t.Error("FaultKinds hands out its own table")
	}
}

// TestEveryKindTakesARequest: hunts and random plans put a fault of any kind on a request.
func TestEveryKindTakesARequest(t *testing.T) {
	for _, info := range Kinds() {
		if !info.OnRequest {
			t.Errorf("%s does not take request=; random plans and many tests need it", info.Kind)
		}
	}
}

// TestWeakestHasEveryKind: without its place, minimizing never chooses a kind.
func TestWeakestHasEveryKind(t *testing.T) {
	for _, info := range Kinds() {
		if !slices.Contains(Weakest(), info.Kind) {
			t.Errorf("%s has no place in the list of Weakest", info.Kind)
		}
	}
	check.Equal(t, len(Weakest()), len(Kinds()), "kinds in Weakest")
}

func TestMatchPath(t *testing.T) {
	tests := []struct {
		glob, path string
		want       bool
	}{
		{"", "/a", true}, {"", "", true},
		{"/a", "/a", true}, {"/a", "/a/b", false}, {"/a", "", false},
		{"/a/*", "/a/b", true}, {"/a/*", "/a/b/c", false}, {"/a/*", "/a", false},
		{"/a/**", "/a/b", true}, {"/a/**", "/a/b/c", true}, {"/a/**", "/a", false},
		{"/a/**", "/ab/c", false},
		{"/*/x/**", "/q/x/y/z", true}, {"/*/x/**", "/q/y/x/z", false}, {"/**", "/a", true},
		{"/**", "/a/b", true},
		{"/a?", "/ab", true},
	}
	for _, test := range tests {
		check.Equal(t, matchPath(test.glob, test.path), test.want,
			"matchPath(%q, %q)", test.glob, test.path)
	}
}

// TestNoPlanDrawsWhatNoServerDoes: errors at will, and nodes of a session that has ended. They act
// where somebody wrote them.
func TestNoPlanDrawsWhatNoServerDoes(t *testing.T) {
	check.Equal(t, len(KindsFor(3)), len(Kinds())-2, "kinds of plans for three servers")
	for _, servers := range []int{1, 3} {
		for _, info := range KindsFor(servers) {
			if info.Kind == Error || info.Kind == LateReap {
				t.Errorf("a plan for %d servers draws %s", servers, info.Kind)
			}
		}
	}
	f := Fault{Kind: Cut, Code: "NoAuth", Request: 1}
	check.Contains(t, fmt.Sprint(f.Validate()), "cut takes no code")
}

func FuzzParseFault(f *testing.F) {
	for _, line := range []string{"drop-reply client=b request=5",
		"stall 3s client=a op=getData request=1", "error NoAuth op=create request=2", "cut at=1.5s", "cut event=1 path=/a/**"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		fault, err := Parse(line)
		if err != nil {
			return
		}
		if again, err := Parse(fault.String()); err != nil || again != fault {
			t.Errorf("%q reads as %q, which reads as %q, %v", line, fault, again, err)
		}
	})
}

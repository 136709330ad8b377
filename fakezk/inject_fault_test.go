package fakezk

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// faultTest is a server in a bubble with two raw clients: a, the session S1, on which faults act,
// and b, S2, which makes things happen.
type faultTest struct {
	*testing.T
	*Server
	a, b       *rawClient
	aSession   proto.ConnectResponse
	wasStarted time.Time
}

const rawTimeout = 30 * time.Second

func withFaults(t *testing.T, body func(*faultTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st := &faultTest{T: t, Server: Start(t)}
		st.a, st.aSession = rawSession(t, st.Server, rawTimeout)
		st.b, _ = rawSession(t, st.Server, rawTimeout)
		st.wasStarted = time.Now()
		body(st)
	})
}

func (st *faultTest) inject(line string) {
	st.Helper()
	injectLine(st, st.Server, line)
}

// ask sends requests in one go and does not wait for replies.
func (r *rawClient) ask(reqs ...proto.Request) {
	r.t.Helper()
	var frames []byte
	for _, req := range reqs {
		r.xid++
		frames = wire.AppendRequest(frames, r.xid, req)
	}
	r.send(frames)
}

// got returns the frames that a client has received so far, as words: "event /x", "reply 3 ok", and
// the end of the connection. An incomplete frame is "half n".
func (r *rawClient) got() string {
	r.t.Helper()
	synctest.Wait()
	check.OK(r.t, r.SetReadDeadline(time.Now().Add(1)))
	p, err := io.ReadAll(r)
	r.noDeadline()
	var words []string
	split := wire.Splitter{Max: 1 << 20}
	check.OK(r.t, split.Feed(p, func(frame []byte) {
		words = append(words, frameWords(frame))
	}))
	if n := len(split.Partial()); n > 0 {
		words = append(words, fmt.Sprint("half ", n))
	}
	switch {
	case err == nil:
		words = append(words, "closed")
	case errors.Is(err, syscall.ECONNRESET):
		words = append(words, "reset")
	}
	return strings.Join(words, ", ")
}

func (r *rawClient) noDeadline() {
	r.t.Helper()
	check.OK(r.t, r.SetReadDeadline(time.Time{}))
}

func frameWords(frame []byte) string {
	h, body, err := wire.DecodeReplyHeader(frame)
	if err != nil {
		return err.Error()
	}
	if h.Xid == -1 {
		ev, err := wire.DecodeEvent(body)
		return fmt.Sprintf("event %s%s", ev.Path, errorWords(err))
	}
	return fmt.Sprintf("reply %d %s", h.Xid, h.Err)
}

func errorWords(err error) string {
	if err == nil {
		return ""
	}
	return " " + err.Error()
}

func (st *faultTest) want(r *rawClient, words string) {
	st.Helper()
	check.Equal(st, r.got(), words, "at %s: the client", st.since())
}

func (st *faultTest) since() time.Duration {
	return time.Since(st.wasStarted).Round(time.Millisecond)
}

// sleepUntil sleeps until a time since the start.
func (st *faultTest) sleepUntil(d time.Duration) {
	time.Sleep(d - time.Since(st.wasStarted))
	synctest.Wait()
}

func (st *faultTest) wantNodes(paths string) {
	st.Helper()
	var got []string
	for _, n := range st.Tree() {
		got = append(got, n.Path)
	}
	check.Equal(st, strings.Join(got, " "), paths, "at %s: nodes", st.since())
}

func (st *faultTest) wantFaults(want ...string) {
	st.Helper()
	var got []string
	for _, f := range st.Faults() {
		got = append(got, fmt.Sprintf("%s: %d %v", f.Fault, f.Matched, f.Fired))
	}
	check.Equal(st, fmt.Sprint(got), fmt.Sprint(want), "faults")
}

// reattach connects and asks for the session of a again.
func (st *faultTest) reattach() *rawClient {
	st.Helper()
	r := rawDial(st, st.Server)
	r.xid = 100
	r.sendHandshake(proto.ConnectRequest{TimeoutMs: int32(rawTimeout.Milliseconds()),
		SessionID: st.aSession.SessionID, Password: st.aSession.Password})
	return r
}

// wantSession reads the answer to a handshake.
func (st *faultTest) wantSession(r *rawClient) {
	st.Helper()
	resp, err := wire.DecodeConnectResponse(r.receive())
	if err != nil || resp.SessionID != st.aSession.SessionID {
		st.Fatalf("at %s: %+v, %v; want the session", st.since(), resp, err)
	}
}

func (st *faultTest) watch(r *rawClient, path string) {
	st.Helper()
	r.call(&proto.Exists{Path: path, Watch: true})
}

// TestAnErrorKeepsItsPlace among the replies to requests that were sent in one go. It has the zxid
// of the server and consumes none.
func TestAnErrorKeepsItsPlace(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("error NoAuth client=S1 op=create request=2")
		before := st.LastZxid()
		st.a.ask(rawCreate("/x", 0), rawCreate("/y", 0), rawCreate("/z", 0),
			&proto.Exists{Path: "/y"})
		st.want(st.a, "reply 1 ok, reply 2 NoAuth, reply 3 ok, reply 4 NoNode")
		st.wantNodes("/ /x /z")
		check.Equal(st, st.LastZxid(), before+2, "zxid")
		st.wantFaults("error NoAuth client=S1 op=create request=2: 2 true")
	})
}

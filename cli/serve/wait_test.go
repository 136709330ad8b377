package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/internal/check"
)

// controlWithHistory is a control endpoint whose server has a history.
func controlWithHistory(t *testing.T, token string) *control {
	t.Helper()
	c := controlHere(t, false)
	server := fakezk.New(fakezk.Options{Trace: true})
	c.main = &namespace{Server: server}
	c.namespaces.host, c.namespaces.opts = "127.0.0.1", fakezk.Options{Trace: true}
	c.access.token = token
	t.Cleanup(func() { check.OK(t, server.Close()) })
	return c
}

// get decodes the answer to a request.
func (c *control) get(t *testing.T, path string, into any) {
	t.Helper()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
	check.Equal(t, w.Code, http.StatusOK, path)
	check.OK(t, json.Unmarshal(w.Body.Bytes(), into))
}

// TestWaitEndsWhenTheFaultFires and not before: the fault fires while the caller waits.
func TestWaitEndsWhenTheFaultFires(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	conn, _ := h.client(t, nil)
	var reply struct{ Armed []faultEntry }
	h.call(t, "POST", "/faults", "cut op=sync request=1\ndrop-reply op=getData request=2", &reply)
	waited := make(chan faultEntry, 1)
	go func() {
		var f faultEntry
		path := fmt.Sprintf("%s/faults/%d?wait=1m", h.control, reply.Armed[1].Number)
		if _, body, err := send("GET", path, ""); err == nil {
			_ = json.Unmarshal([]byte(body), &f) // a wrong one is seen below
		}
		waited <- f
	}()
	_, _, err := conn.Get("/")
	check.OK(t, err)
	select {
	case f := <-waited:
		t.Fatalf("the wait has ended with %+v", f)
	default:
	}
	_, _, _ = conn.Get("/") // its reply is lost
	check.Equal(t, <-waited, faultEntry{2, "drop-reply op=getData request=2", 2, true})
}

func TestWaitOfAClearedFaultEnds(t *testing.T) {
	c := controlWithHistory(t, "")
	check.OK(t, c.main.Put("/a", nil))
	post := func(method, path, body string) int {
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
		status, _ := c.ask(t, r)
		return status
	}
	check.Equal(t, post("POST", "/faults", "cut request=1"), 200)
	ended := make(chan int)
	go func() { ended <- post("GET", "/faults/1?wait=1m", "") }()
	check.Equal(t, post("DELETE", "/faults", ""), 200)
	check.Equal(t, <-ended, 404)
}

func TestHistoryWaitsForARecordThatMatches(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	conn, _ := h.client(t, nil)
	got := make(chan string, 1)
	go func() {
		_, body, err := send("GET", h.control+"/history?op=getData&path=/b&wait=1m", "")
		got <- fmt.Sprint(body, err)
	}()
	_, _, _ = conn.Get("/a")
	_, _, _ = conn.Get("/b")
	var part historyEntry
	text := strings.TrimSuffix(<-got, "<nil>")
	check.Contains(t, text, `"-> getData /b: `) // for a person, not \u003e
	check.OK(t, json.Unmarshal([]byte(text), &part))
	check.Equal(t, len(part.Records), 1)
	check.Equal(t, part.Records[0].Path+" "+part.Records[0].Session, "/b S1")
	check.Equal(t, part.Last, part.Records[0].Number)
}

// events reads server-sent events: the ids, and the texts of the records or the name of the event.
func events(t *testing.T, h here, path, last string, until string) (seen []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", h.control+path, nil)
	check.OK(t, err)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(r)
	check.OK(t, err)
	defer res.Body.Close()
	check.Equal(t, res.Header.Get("Content-Type"), "text/event-stream")
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		var r recordEntry
		if name == "data" && json.Unmarshal([]byte(value), &r) == nil && r.Text != "" {
			value = r.Text
		}
		if name == "data" || name == "event" {
			seen = append(seen, value)
		}
		if value == until {
			return seen
		}
	}
	t.Fatalf("the stream ends after %q", seen)
	return nil
}

func TestEventsResumeAfterAnID(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	for _, name := range []string{"a", "b", "c"} {
		h.call(t, "PUT", "/nodes/"+name, "", nil)
	}
	last := "call: put /c, 0 bytes"
	check.Equal(t, len(events(t, h, "/events", "", last)), 3)
	check.List(t, events(t, h, "/events", "2", last), []string{last})
	check.List(t, events(t, h, "/events?after=1&path=/c", "", last), []string{last})

	for i := range 1000 { // more than are kept
		h.call(t, "PUT", "/nodes/a", fmt.Sprint(i), nil)
	}
	check.List(t, events(t, h, "/events", "1", "call: put /a, 1 bytes")[:2],
		[]string{"lost", `{"lost":2}`})
}

// TestWaitsEndWithTheServer: without that, the end of the test would come ten minutes later.
func TestWaitsEndWithTheServer(t *testing.T) {
	c := controlWithHistory(t, "")
	ended := make(chan int)
	for _, path := range []string{"/events", "/history?wait=10m"} {
		go func() {
			w := httptest.NewRecorder()
			c.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
			ended <- w.Code
		}()
	}
	for len(c.waiting) < 2 {
		runtime.Gosched()
	}
	check.OK(t, c.close())
	<-ended
	<-ended
}

// TestTooManyWaitsAreRefused, and requests that do not wait still have room.
func TestTooManyWaitsAreRefused(t *testing.T) {
	c := controlWithHistory(t, "")
	for range maxWaiting {
		c.waiting <- struct{}{}
	}
	w := c.answered(t, "GET", "/events", "")
	check.Equal(t, fmt.Sprint(w.Code, w.Header()["Retry-After"]), "503 [1]")
	check.Contains(t, w.Body.String(), `"100 requests and event streams wait already"`)
	var part historyEntry
	c.get(t, "/history", &part)
	<-c.waiting
	c.get(t, "/history?wait=1ms", &part)
	check.Equal(t, len(part.Records), 0)
}

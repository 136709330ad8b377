package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestDumpHoldsAllThatControlAcknowledged: the dump has every tree with an acknowledged load, even
// a load just before the end.
func TestDumpHoldsAllThatControlAcknowledged(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "dump.json")
	h := serveHere(t, "--dump", name, "--log-level", "error")
	var many strings.Builder // so that the dump takes its time
	for i := range 20_000 {
		fmt.Fprintf(&many, "%s\"/many%05d\": \"x\"", []string{"{", ", "}[min(i, 1)], i)
	}
	h.call(t, "POST", "/load", many.String()+"}", nil)

	const loaders, before = 4, 10
	acknowledged := make([]int, loaders)
	var loading, warm sync.WaitGroup
	warm.Add(loaders * before)
	for i := range loaders {
		loading.Go(func() {
			for n := 0; ; n++ {
				status, _, err := send("POST", h.control+"/load",
					fmt.Sprintf("/load%d-%d: x", i, n))
				if n < before {
					warm.Done()
				}
				if err != nil || status != http.StatusOK {
					return
				}
				acknowledged[i]++
			}
		})
	}
	warm.Wait()
	if status, stderr := h.stop(); status != command.ExitOK {
		t.Fatalf("exit status %d\n%s", status, stderr)
	}
	loading.Wait()
	dumped := map[string]bool{}
	dump, err := tree.ReadFile(name)
	check.OK(t, err)
	for _, n := range dump.Nodes {
		dumped[n.Path] = true
	}
	missing, all := 0, 0
	for i, count := range acknowledged {
		for n := range count {
			all++
			if !dumped[fmt.Sprintf("/load%d-%d", i, n)] {
				missing++
			}
		}
	}
	if missing > 0 || all < loaders*before {
		t.Errorf("%d of %d acknowledged loads are not in the dump", missing, all)
	}
}

// controlHere returns a control endpoint without a listener.
func controlHere(t *testing.T, anywhere bool) *control {
	t.Helper()
	s := &serving{server: fakezk.New(fakezk.Options{}), log: slog.New(slog.DiscardHandler)}
	c, err := listenControl("127.0.0.1:0", &access{anywhere: anywhere}, s)
	check.OK(t, err)
	s.control = c
	t.Cleanup(func() {
		for range 2 { // twice is fine
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
		if err := c.serve(); err != nil { // which closes the listener
			t.Error(err)
		}
	})
	return c
}

// ask returns the endpoint's answer to a request, which must be JSON: its status, and the error in
// it.
func (c *control) ask(t *testing.T, r *http.Request) (status int, failure string) {
	t.Helper()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	var body struct{ Error string }
	if err := json.NewDecoder(w.Body).Decode(&body); err != nil ||
		w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%s %s: status %d: no JSON: %v, %v", r.Method, r.URL, w.Code, err, w.Header())
	}
	return w.Code, body.Error
}

func TestControlRefusesRequestsWhileItStops(t *testing.T) {
	c := controlHere(t, false)
	load := func() *http.Request {
		return httptest.NewRequest("POST", "http://localhost/load", strings.NewReader("/a: x"))
	}
	if status, failure := c.ask(t, load()); status != 200 {
		t.Errorf("status %d: %s", status, failure)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
	if status, failure := c.ask(t, load()); status != 503 || failure != "the server stops" {
		t.Errorf("status %d: %s; want 503", status, failure)
	}
}

// TestControlIsForThisMachineByName: the author of a page may make the name of its site resolve to
// this machine. Its requests have that name as Host, and seem to come from their own site.
func TestControlIsForThisMachineByName(t *testing.T) {
	for _, test := range []struct {
		host     string
		anywhere bool
		want     int
	}{
		{"localhost", false, 200}, {"LOCALHOST:80", false, 200}, {"127.0.0.1:8080", false, 200},
		{"127.9.9.9", false, 200},
		{"[::1]:8080", false, 200}, {"[::1]", false, 200}, {"[::ffff:127.0.0.1]:1", false, 200},
		{"evil.example", false, 403}, {"evil.example:8080", false, 403},
		{"localhost.evil.example", false, 403},
		{"10.0.0.1:8080", false, 403}, {"0.0.0.0", false, 403}, {"", false, 403},
		{"127.0.0.1.evil.example", false, 403},
		{"evil.example", true, 200}, {"10.0.0.1:8080", true, 200},
	} {
		c := controlHere(t, test.anywhere)
		for _, method := range []string{"GET", "POST"} {
			r := httptest.NewRequest(
				method, map[string]string{"GET": "/tree", "POST": "/reset"}[method], nil,
			)
			r.Host = test.host
			r.Header.Set("Origin", "http://"+test.host)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			w := httptest.NewRecorder()
			c.ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("%s for %q, anywhere %v: status %d; want %d: %s", method, test.host,
					test.anywhere, w.Code, test.want, w.Body)
			}
		}
	}
}

// TestRefusedSitesGetJSON, like all other errors.
func TestRefusedSitesGetJSON(t *testing.T) {
	c := controlHere(t, false)
	cross := httptest.NewRequest("POST", "http://localhost/reset", nil)
	cross.Header.Set("Sec-Fetch-Site", "cross-site")
	if status, failure := c.ask(t, cross); status != 403 ||
		!strings.Contains(failure, "cross-origin") {
		t.Errorf("status %d: %s", status, failure)
	}
	rebound := httptest.NewRequest("POST", "http://evil.example/reset", nil)
	if status, failure := c.ask(t, rebound); status != 403 ||
		!strings.HasPrefix(failure, `host "evil.example": expected localhost`) {
		t.Errorf("status %d: %s", status, failure)
	}
}

// TestOtherSitesMayNotEvenRead: only a link to the page may come from elsewhere.
func TestOtherSitesMayNotEvenRead(t *testing.T) {
	c := controlHere(t, false)
	const ours, other = "http://localhost:8080", "http://localhost:3000"
	type headers = map[string]string
	tab := headers{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	for _, test := range []struct {
		path    string
		headers headers
		more    headers
		want    int
	}{
		{"/tree", headers{}, nil, 200},
		{"/tree", headers{"Sec-Fetch-Site": "same-origin"}, nil, 200},
		{"/tree", headers{"Sec-Fetch-Site": "none"}, tab, 200},
		{"/tree", headers{"Origin": ours}, nil, 200},
		{"/tree", headers{"Sec-Fetch-Site": "cross-site"}, nil, 403},
		{"/tree", headers{"Sec-Fetch-Site": "same-site"}, nil, 403},
		{"/tree", headers{"Origin": other}, nil, 403},
		{"/tree", headers{"Origin": "null"}, nil, 403},
		{"/events", headers{"Sec-Fetch-Site": "cross-site"}, nil, 403},
		{"/tree", headers{"Sec-Fetch-Site": "cross-site"}, tab, 403},
		{"/", headers{"Sec-Fetch-Site": "cross-site"}, tab, 403},
		{"/ui", headers{"Sec-Fetch-Site": "cross-site"}, tab, 200},
		{"/ui", headers{"Sec-Fetch-Site": "same-site"}, tab, 200},
		{"/ui", headers{"Sec-Fetch-Site": "none"}, tab, 200},
		{"/ui", headers{"Sec-Fetch-Site": "cross-site"}, nil, 403},
		{"/ui", headers{"Sec-Fetch-Site": "cross-site"},
			headers{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		{"/ui", headers{"Sec-Fetch-Site": "cross-site"},
			headers{"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			r := canceled(httptest.NewRequest(method, "http://localhost:8080"+test.path, nil))
			for _, headers := range []headers{test.headers, test.more} {
				for name, value := range headers {
					r.Header.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			c.ServeHTTP(w, r)
			check.Equal(t, w.Code, test.want, "%s %s %v %v", method, test.path, test.headers,
				test.more)
		}
	}
}

// TestDropOfNobodyDropsNobody: a request without a valid session must not drop all connections.
func TestDropOfNobodyDropsNobody(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	_, events := h.client(t, nil)
	for _, body := range []string{
		`{"session":null}`, `{"session":""}`, `null`, `"S1"`, `{"Session":"S1"}`,
	} {
		for _, path := range []string{"/drop", "/stall", "/expire"} {
			if status, reply, err := send("POST", h.control+path, body); err != nil ||
				status != 400 {
				t.Errorf("%s %s: status %d, %s, %v; want 400", path, body, status, reply, err)
			}
		}
	}
	var sessions []sessionEntry
	h.call(t, "GET", "/sessions", "", &sessions)
	if len(sessions) != 1 || !sessions[0].Connected {
		t.Errorf("sessions are %+v", sessions)
	}
	if passed := events.take(0); len(passed) != 0 {
		t.Errorf("the client passed through %v", passed)
	}
}

// TestDumpTooLongToLoadIsTold: the dump is written nevertheless.
func TestDumpTooLongToLoadIsTold(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it writes and reads a file of the greatest size; -full plays it")
	}
	for size, want := range map[int]bool{1: false, tree.MaxBytes: true} {
		var log strings.Builder
		server := fakezk.New(fakezk.Options{})
		// longer by a third in base64
		check.OK(t, server.Put("/a", make([]byte, size*3/4)))
		s := &serving{
			server: server, log: slog.New(slog.NewTextHandler(&log, nil)),
			dump: filepath.Join(t.TempDir(), "dump.json"),
		}
		if err := s.writeDump(); err != nil {
			t.Error(err)
		}
		if told := strings.Contains(log.String(), "the dump is too long for --load"); told != want {
			t.Errorf("%d bytes: told %v; want %v:\n%s", size, told, want, log.String())
		}
		if _, err := tree.ReadFile(s.dump); (err != nil) != want {
			t.Errorf("%d bytes: read back: %v", size, err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestControlAnywhereAsksForAToken that it has drawn and printed, unless it is told not to.
func TestControlAnywhereAsksForAToken(t *testing.T) {
	t.Parallel()
	h := serveHere(t, "--control-anywhere", "--log-level", "error")
	status, _, err := send("GET", h.control+"/tree", "")
	check.OK(t, err)
	check.Equal(t, status, http.StatusUnauthorized)
	req, err := http.NewRequest("GET", h.control+"/tree", nil)
	check.OK(t, err)
	req.Header.Set("Authorization", "Bearer "+h.token)
	res, err := http.DefaultClient.Do(req)
	check.OK(t, err)
	check.OK(t, res.Body.Close())
	check.Equal(t, res.StatusCode, http.StatusOK)
	if len(h.token) < 20 {
		t.Errorf("the token is %q", h.token)
	}

	for _, flags := range [][]string{{"--control-anywhere", "--control-token", "none"}, {}} {
		h := serveHere(t, append(flags, "--log-level", "error")...)
		check.Equal(t, h.token, "", "%q", flags)
		h.call(t, "GET", "/tree", "", nil)
	}
}

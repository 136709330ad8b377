package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/internal/check"
)

// TestNamespacesDoNotMeet: names of sessions, nodes, faults, the history, and even a stop of one
// server do not show in another.
func TestNamespacesDoNotMeet(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	var a, b namespaceEntry
	made := func(name string, into *namespaceEntry) here {
		t.Helper()
		status, reply, err := send("POST", h.control+"/namespaces", `{"name":"`+name+`"}`)
		check.OK(t, err)
		check.Equal(t, status, http.StatusCreated, reply)
		h.call(t, "GET", "/namespaces/"+name+"/server", "", into)
		return here{addr: into.Addr, control: h.control + "/namespaces/" + name}
	}
	inA, inB := made("a", &a), made("b", &b)
	connA, _ := inA.client(t, nil)
	connB, _ := inB.client(t, nil)
	if _, err := connA.Create("/x", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	inB.call(t, "POST", "/faults", "drop-request request=1 op=sync", nil)
	exists, _, err := connB.Exists("/x")
	check.OK(t, err)
	check.Equal(t, exists, false)
	for _, in := range []here{inA, inB} {
		var sessions []sessionEntry
		in.call(t, "GET", "/sessions", "", &sessions)
		check.Equal(t, len(sessions), 1)
		check.Equal(t, sessions[0].Name, "S1")
	}
	var faults []faultEntry
	inA.call(t, "GET", "/faults", "", &faults)
	check.Equal(t, len(faults), 0)
	var part historyEntry
	inB.call(t, "GET", "/history?op=create", "", &part)
	check.Equal(t, len(part.Records), 0)

	inA.call(t, "POST", "/stop", "", nil)
	_, _, err = connB.Exists("/x")
	check.OK(t, err)

	h.call(t, "DELETE", "/namespaces/b", "", nil)
	if _, _, err := connB.Exists("/x"); err == nil {
		t.Error("the server of a namespace that is gone answers")
	}
	status, _, err := send("GET", inB.control+"/tree", "")
	check.OK(t, err)
	check.Equal(t, status, http.StatusNotFound)
}

// TestWaitsEndWithTheirNamespace: a deleted namespace leaves no request behind.
func TestWaitsEndWithTheirNamespace(t *testing.T) {
	c := controlWithHistory(t, "")
	_, err := c.namespaces.add("a")
	check.OK(t, err)
	ended := make(chan string)
	go func() {
		status, failure := c.ask(t, httptest.NewRequest("GET",
			"http://localhost/namespaces/a/history?wait=10m", nil))
		ended <- fmt.Sprint(status, " ", failure)
	}()
	for len(c.waiting) == 0 { // until the request is under way
		runtime.Gosched()
	}
	found, err := c.namespaces.remove("a")
	check.OK(t, err)
	check.Equal(t, found, true)
	if got := <-ended; !strings.HasPrefix(got, "200") &&
		got != `404 no namespace "a"; GET /namespaces lists them` {
		t.Error(got)
	}
}

func TestNamespacesAreBounded(t *testing.T) {
	c := controlWithHistory(t, "")
	for range maxNamespaces {
		_, err := c.namespaces.add("")
		check.OK(t, err)
	}
	_, err := c.namespaces.add("")
	check.Equal(t, fmt.Sprint(err), "100 namespaces exist; DELETE /namespaces/NAME ends one")
	check.OK(t, c.namespaces.close())
	check.Equal(t, len(c.namespaces.list()), 0)
	_, err = c.namespaces.add("late")
	check.Equal(t, fmt.Sprint(err), "the server stops")
}

func TestTokenIsAsked(t *testing.T) {
	c := controlWithHistory(t, "s3cret")
	for header, want := range map[string]int{
		"": 401, "Bearer s3cret": 200, "bearer s3cret": 200, "Bearer wrong": 401, "Bearer": 401,
		"Basic s3cret": 401, "s3cret": 401, "Bearer s3cret ": 401,
	} {
		r := httptest.NewRequest("GET", "http://localhost/server", nil)
		r.Header.Set("Authorization", header)
		status, failure := c.ask(t, r)
		check.Equal(t, status, want, header)
		if want == 401 {
			check.Contains(t, failure, "Authorization: Bearer")
		}
	}
	check.OK(t, checkToken("s3cret-._~+/="))
	err := checkToken("s3 cret")
	check.Contains(t, fmt.Sprint(err), "--control-token: its byte 3 is a space")
	if strings.Contains(err.Error(), "s3 cret") {
		t.Error("the error has the token")
	}
}

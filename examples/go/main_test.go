package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
)

// TestOneOrderInSpiteOfTheLostReply runs the example against a server in this process, with a
// control endpoint that takes only faults.
func TestOneOrderInSpiteOfTheLostReply(t *testing.T) {
	server := fakezk.Start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fault, err := fault.Parse(string(line))
		if err == nil {
			err = server.Inject(fault)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	defer control.Close()
	var out strings.Builder
	if err := run(&out, l.Addr().String(), strings.TrimPrefix(control.URL, "http://")); err != nil {
		t.Fatal(err)
	}
	want := "create: zk: connection closed\n" +
		"the lost request had made /orders/4711-0000000000\n" +
		"placed /orders/4711-0000000000; orders there are: 1\n"
	if out.String() != want {
		t.Errorf("the example says\n%swant\n%s", out.String(), want)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestNothingIsSaidOfAnOrderThatCouldNotBeLookedFor: the request is lost, and there is no
// directory to look in.
func TestNothingIsSaidOfAnOrderThatCouldNotBeLookedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakezk.Start(t)
		conn := server.Connect(t)
		drop := fault.Fault{Kind: fault.DropRequest, Op: "create", Request: 1}
		if err := server.Inject(drop); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		path, err := placeOrder(&out, conn, "4711", "three apples")
		if !errors.Is(err, zk.ErrNoNode) || path != "" {
			t.Errorf("got %q, %v; want %v", path, err, zk.ErrNoNode)
		}
		if want := "create: zk: connection closed\n"; out.String() != want {
			t.Errorf("the example says %q; want %q", out.String(), want)
		}
	})
}

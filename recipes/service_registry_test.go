package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	znode "github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// shownServices are all instances as text: "mail/b=1 web/a=1".
func shownServices(ctx context.Context, v *ServiceRegistry) (string, error) {
	all, err := v.All(ctx)
	var got []string
	for _, i := range all {
		got = append(got, fmt.Sprintf("%s/%s=%s", i.Service, i.ID, i.Data))
	}
	return strings.Join(got, " "), err
}

// wantServices looks at rest.
func wantServices(t *testing.T, v *ServiceRegistry, want string) {
	t.Helper()
	time.Sleep(time.Second)
	if got, err := shownServices(t.Context(), v); err != nil || got != want {
		t.Errorf("services %v, %v; want %s", got, err, want)
	}
}

func register(t *testing.T, c Conn, service, id, data string) *Registration {
	t.Helper()
	g := NewRegistration(c, "/s", Instance{Service: service, ID: id, Data: []byte(data)},
		RecheckEvery(0))
	if err := g.Register(t.Context()); err != nil || !g.Present() {
		t.Fatalf("Register: %v, present %v", err, g.Present())
	}
	return g
}

func TestRegistryFollowsServicesAndInstances(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, two := s.Connect(), s.Connect()
		v := NewServiceRegistry(s.Connect(), "/s", RecheckEvery(0))
		wantServices(t, v, "")
		a := register(t, one, "web", "a", "1")
		wantServices(t, v, "web/a=1")
		b := register(t, two, "mail", "b", "1")
		wantServices(t, v, "mail/b=1 web/a=1")
		mustDo(t, a.Update(t.Context(), []byte("2")))
		c := register(t, two, "web", "c", "1")
		wantServices(t, v, "mail/b=1 web/a=2 web/c=1")
		if names, err := v.Services(t.Context()); err != nil || fmt.Sprint(names) != "[mail web]" {
			t.Errorf("services %v, %v", names, err)
		}
		one.Disconnect()
		one.Expire()
		wantServices(t, v, "mail/b=1 web/c=1")
		one.Reconnect()
		wantServices(t, v, "mail/b=1 web/a=2 web/c=1")
		mustClose(t, b)
		wantServices(t, v, "web/a=2 web/c=1")
		if names, err := v.Services(t.Context()); err != nil || fmt.Sprint(names) != "[web]" {
			t.Errorf("services %v, %v", names, err)
		}
		if list, err := v.Instances(t.Context(), "mail"); err != nil || len(list) > 0 {
			t.Errorf("instances %v, %v", list, err)
		}
		mustClose(t, a, c, v)
	})
}

// TestRegistrySeesAServiceAgain after its node was removed and created again: the registry must
// still watch it.
func TestRegistrySeesAServiceAgain(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		v := NewServiceRegistry(s.Connect(), "/s", RecheckEvery(0))
		for _, id := range []string{"a", "b", "c"} {
			g := register(t, c, "web", id, "1")
			wantServices(t, v, "web/"+id+"=1")
			mustClose(t, g)
			// as the server does with an empty container
			mustDo(t, c.Delete("/s/web", -1))
			wantServices(t, v, "")
		}
		mustDo(t, c.Delete("/s", -1))
		g := register(t, c, "web", "a", "1")
		wantServices(t, v, "web/a=1")
		mustClose(t, g, v)
	})
}

func TestServicesAreContainers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		g := register(t, s.Connect(), "web", "a", "1")
		if n, _ := s.Node("/s/web"); n.Kind != znode.ContainerNode {
			t.Error("the service is no container, and stays when it is empty")
		}
		mustClose(t, g)
	})
}

func TestRegistrySurvivesRefusalsAndRaces(t *testing.T) {
	for _, op := range []string{"childrenW", "getW"} {
		for nth := 2; nth <= 4; nth++ {
			alone(t, func(t *testing.T, s *testServer, view *testConn) {
				a := register(t, s.Connect(), "web", "a", "1")
				b := register(t, s.Connect(), "mail", "b", "1")
				view.On(op, nth, refusal)
				v := NewServiceRegistry(view, "/s", RecheckEvery(0))
				if _, err := v.All(t.Context()); err != nil {
					check.Is(t, err, zk.ErrNoAuth)
				}
				wantServices(t, v, "mail/b=1 web/a=1")
				mustClose(t, a, b, v)
			})
		}
	}
	for _, op := range []string{"childrenW", "getW"} {
		for nth := 1; nth <= 3; nth++ {
			inBubble(t, func(t *testing.T, s *testServer) {
				c, view := s.Connect(), s.Connect()
				a := register(t, c, "web", "a", "1")
				gone := func() {
					mustClose(t, a)
					mustDo(t, c.Delete("/s/web", -1))
				}
				view.On(op, nth, rule{Before: gone}) // between two levels
				v := NewServiceRegistry(view, "/s", RecheckEvery(0))
				mustDo(t, errOf(v.All(t.Context())))
				if view.Called(op) >= nth {
					wantServices(t, v, "")
				} else {
					wantServices(t, v, "web/a=1")
					mustClose(t, a)
				}
				mustClose(t, v)
			})
		}
	}
}

// TestNamesThatAreNotOfOneNode are refused without a request.
func TestNamesThatAreNotOfOneNode(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		v, center := NewServiceRegistry(c, "/s"), NewConfigCenter(c, "/config")
		for _, name := range []string{"", ".", "..", "a/b"} {
			m := NewGroupMember(c, "/g", name, nil)
			service := NewRegistration(c, "/s", Instance{Service: name, ID: "x"})
			id := NewRegistration(c, "/s", Instance{Service: "web", ID: name})
			_, _, err := center.Fetch(t.Context(), name)
			for n, err := range []error{
				m.Join(t.Context()), service.Register(t.Context()), id.Register(t.Context()),
				id.Update(t.Context(), nil), center.Create(t.Context(), name, nil),
				center.Update(t.Context(), name, nil, 0), center.Delete(t.Context(), name, 0), err,
			} {
				if !errors.Is(err, zk.ErrInvalidPath) || OutcomeOf(err) != NotApplied {
					t.Errorf("call %d, %q: %v", n, name, err)
				}
			}
			mustClose(t, m, service, id)
		}
		mustClose(t, v)
		check.Is(t, errOf(v.Instances(t.Context(), "web")), ErrClosed)
		check.Equal(t, len(c.Calls()), 0, "requests")
	})
}

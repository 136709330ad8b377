package recipes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	znode "github.com/zksim/zksim/fakezk/view"
)

// wantServices looks at rest; want is "mail/b=1 web/a=1".
func wantServices(t *testing.T, v *ServiceRegistry, want string) {
	t.Helper()
	time.Sleep(time.Second)
	all, err := v.All(t.Context())
	var got []string
	for _, i := range all {
		got = append(got, fmt.Sprintf("%s/%s=%s", i.Service, i.ID, i.Data))
	}
	if err != nil || strings.Join(got, " ") != want {
		t.Errorf("services %v, %v; want %s", got, err, want)
	}
}

func register(t *testing.T, c Conn, service, id, data string) *Registration {
	t.Helper()
	g := NewRegistration(
		c, "/s", Instance{Service: service, ID: id, Data: []byte(data)}, RecheckEvery(0),
	)
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
		if err := a.Update(t.Context(), []byte("2")); err != nil {
			t.Error(err)
		}
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
		quit(t, b)
		wantServices(t, v, "web/a=2 web/c=1")
		if names, err := v.Services(t.Context()); err != nil || fmt.Sprint(names) != "[web]" {
			t.Errorf("services %v, %v", names, err)
		}
		if list, err := v.Instances(t.Context(), "mail"); err != nil || len(list) > 0 {
			t.Errorf("instances %v, %v", list, err)
		}
		quit(t, a, c, v)
	})
}

// TestRegistrySeesAServiceAgain after its node was removed and created again: the registry must
// still watch it.
func TestRegistrySeesAServiceAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		c := s.Connect()
		v := NewServiceRegistry(s.Connect(), "/s", RecheckEvery(0))
		for _, id := range []string{"a", "b", "c"} {
			g := register(t, c, "web", id, "1")
			wantServices(t, v, "web/"+id+"=1")
			quit(t, g)
			// as the server does with an empty container
			if err := c.Delete("/s/web", -1); err != nil {
				t.Fatal(err)
			}
			wantServices(t, v, "")
		}
		if err := c.Delete("/s", -1); err != nil {
			t.Fatal(err)
		}
		g := register(t, c, "web", "a", "1")
		wantServices(t, v, "web/a=1")
		quit(t, g, v)
	})
}

func TestServicesAreContainers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		g := register(t, s.Connect(), "web", "a", "1")
		if n, _ := s.Node("/s/web"); n.Kind != znode.ContainerNode {
			t.Error("the service is no container, and stays when it is empty")
		}
		quit(t, g)
	})
}

func TestRegistrySurvivesLostRequestsAndRaces(t *testing.T) {
	faults := map[string]rule{
		"reply": loseReply, "request": loseRequest, "net": netError, "no server": noServer,
		"refused": {
			Lose: true, Err: zk.ErrNoAuth,
		},
	}
	for name, fault := range faults {
		for nth := 2; nth <= 4; nth++ {
			for _, op := range []string{"childrenW", "getW"} {
				t.Run(fmt.Sprint(name, op, nth), func(t *testing.T) {
					inBubble(t, func(t *testing.T, s *testServer) {
						c, view := s.Connect(), s.Connect()
						a, b := register(t, c, "web", "a", "1"), register(t, c, "mail", "b", "1")
						view.On(op, nth, fault)
						v := NewServiceRegistry(view, "/s", RecheckEvery(0))
						if _, err := v.All(t.Context()); err != nil &&
							!errors.Is(err, zk.ErrNoAuth) {
							t.Error(err)
						}
						wantServices(t, v, "mail/b=1 web/a=1")
						quit(t, a)
						a = register(t, c, "web", "a", "2")
						wantServices(t, v, "mail/b=1 web/a=2")
						quit(t, a, b, v)
					})
				})
			}
		}
	}
	for _, op := range []string{"childrenW", "getW"} {
		for nth := 1; nth <= 3; nth++ {
			inBubble(t, func(t *testing.T, s *testServer) {
				c, view := s.Connect(), s.Connect()
				a := register(t, c, "web", "a", "1")
				gone := func() {
					quit(t, a)
					if err := c.Delete("/s/web", -1); err != nil {
						t.Error(err)
					}
				}
				view.On(op, nth, rule{Before: gone}) // between two levels
				v := NewServiceRegistry(view, "/s", RecheckEvery(0))
				if _, err := v.All(t.Context()); err != nil {
					t.Error(err)
				}
				if view.Called(op) >= nth {
					wantServices(t, v, "")
				} else {
					wantServices(t, v, "web/a=1")
					quit(t, a)
				}
				quit(t, v)
			})
		}
	}
}

func TestRegistrationRefusals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		for _, i := range []Instance{{}, {Service: "a/b", ID: "x"}, {Service: "web", ID: ".."}} {
			g := NewRegistration(s.Connect(), "/s", i)
			if err := g.Register(t.Context()); OutcomeOf(err) != NotApplied {
				t.Errorf("Register of %+v: %v", i, err)
			}
			if err := g.Update(t.Context(), nil); OutcomeOf(err) != NotApplied {
				t.Errorf("Update of %+v: %v", i, err)
			}
			quit(t, g)
		}
		v := NewServiceRegistry(s.Connect(), "/s")
		quit(t, v)
		if _, err := v.Instances(t.Context(), "web"); !errors.Is(err, ErrClosed) {
			t.Errorf("Instances after Close: %v", err)
		}
	})
}

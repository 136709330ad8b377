package gallery

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

// addressLists are the addresses of each service. A goroutine removes the lists of services that
// are gone.
type addressLists struct {
	life context.Context
	conn *zk.Conn
	add  func(list *[]recipes.Instance, i recipes.Instance)

	mu    sync.Mutex
	lists map[string]*[]recipes.Instance
}

// keepingLists is a workload of providers that come and go, and of a first client that reads their
// addresses into its lists.
func keepingLists(add func(list *[]recipes.Instance, i recipes.Instance)) scenario.Workload {
	w := beside(memberOf(), membersDir)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := &addressLists{life: p.Life(), conn: p.Conn(), add: add}
		if p.Index() == 0 {
			go l.follow()
		}
		for n := range p.Rounds(10 * s.Rounds) {
			p.Pause(time.Duration(1+p.Choose(scenario.At("pause", n), 20)) * time.Millisecond)
			if p.Index() == 0 {
				_ = do(p, ops.View, "", func(context.Context) error { return l.view() })
				continue
			}
			service := membersDir + "/" + p.Name()
			_ = do(p, ops.Join, p.Name(), func(context.Context) error {
				return register(p.Conn(), service, service+"/address")
			})
			_ = do(p, ops.Leave, p.Name(), func(context.Context) error {
				return errors.Join(remove(p.Conn(), service+"/address"), remove(p.Conn(), service))
			})
		}
	}
	return judgedByReturns(w)
}

// view reads the addresses of all services.
func (l *addressLists) view() error {
	services, _, err := l.conn.Children(membersDir)
	if err != nil {
		return err
	}
	l.reset(services)
	for _, service := range services {
		names, _, err := l.conn.Children(membersDir + "/" + service)
		for _, name := range names {
			l.learn(recipes.Instance{Service: service, ID: name})
		}
		if ignore(err, zk.ErrNoNode) != nil {
			return err
		}
	}
	return nil
}

// reset makes an empty list for each service.
func (l *addressLists) reset(services []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists = map[string]*[]recipes.Instance{}
	for _, service := range services {
		l.lists[service] = new([]recipes.Instance)
	}
}

func (l *addressLists) learn(i recipes.Instance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(l.lists[i.Service], i)
}

// keep removes the lists of all services but these.
func (l *addressLists) keep(services []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for service := range l.lists {
		if !slices.Contains(services, service) {
			delete(l.lists, service)
		}
	}
}

// follow watches the services until the client's script has ended.
func (l *addressLists) follow() {
	for l.life.Err() == nil {
		names, _, change, err := l.conn.ChildrenW(membersDir)
		if err == nil {
			l.keep(names)
		} else {
			change = after(100 * time.Millisecond)
		}
		await(l.life, change)
	}
}

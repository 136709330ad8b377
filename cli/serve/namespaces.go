package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/zksim/zksim/fakezk"
)

// A namespace is a server with its address: the one of zksim serve, or one on a
// port of its own, so tests in different namespaces share nothing, not
// even the names of sessions or a restart.
type namespace struct {
	name  string
	addrs []string // of the servers
	*fakezk.Server

	arming sync.Mutex // held while faults are armed and listed, or disarmed
}

// namespaces are the namespaces of a zksim serve.
type namespaces struct {
	opts fakezk.Options
	tls  *tls.Config
	host string // without a port

	mu     sync.Mutex
	all    map[string]*namespace
	made   int  // namespaces so far
	closed bool // for good
	served sync.WaitGroup
	failed func(name string, err error) // called when a listener fails
}

// find returns nil if there is no namespace of that name.
func (s *namespaces) find(name string) *namespace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[name]
}

func (s *namespaces) list() []*namespace {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*namespace
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		list = append(list, s.all[name])
	}
	return list
}

var namespaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// add starts the server of a new namespace. Without a name it gets n1, n2 and so on.
func (s *namespaces) add(name string) (*namespace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if name == "" {
		for name = fmt.Sprint("n", s.made); s.all[name] != nil; name = fmt.Sprint("n", s.made) {
			s.made++
		}
	}
	switch {
	case !namespaceName.MatchString(name):
		return nil, fmt.Errorf("name: %q; expected 1 to 64 letters, digits, - and _", name)
	case s.closed:
		return nil, errStops
	case s.all[name] != nil:
		return nil, failure(http.StatusConflict, "namespace %q exists", name)
	case len(s.all) >= maxNamespaces:
		return nil, failure(http.StatusConflict, "%d namespaces exist; DELETE /namespaces/NAME "+
			"ends one", maxNamespaces)
	}
	return s.start(name)
}

// start opens a port for a namespace. The lock is held.
func (s *namespaces) start(name string) (*namespace, error) {
	listeners, err := listenAll(net.JoinHostPort(s.host, "0"), max(1, s.opts.Servers))
	if err != nil {
		return nil, failure(http.StatusInternalServerError, "namespace %q: %v", name, err)
	}
	opts := s.opts
	if opts.Logger != nil {
		opts.Logger = opts.Logger.With("namespace", name)
	}
	made := &namespace{name: name, addrs: addressesOf(listeners), Server: fakezk.New(opts)}
	if s.all == nil {
		s.all = map[string]*namespace{}
	}
	s.all[name] = made
	s.served.Go(func() {
		err := made.Serve(withTLS(listeners, s.tls)...)
		if err != nil && !errors.Is(err, fakezk.ErrStopped) {
			s.failed(name, err)
		}
	})
	return made, nil
}

// remove ends a namespace, and reports whether there was one.
func (s *namespaces) remove(name string) (bool, error) {
	s.mu.Lock()
	gone := s.all[name]
	delete(s.all, name)
	s.mu.Unlock()
	if gone == nil {
		return false, nil
	}
	return true, gone.Close()
}

// close ends all namespaces. It may be called twice.
func (s *namespaces) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var errs []error
	for _, one := range s.list() {
		_, err := s.remove(one.name)
		errs = append(errs, err)
	}
	s.served.Wait()
	return errors.Join(errs...)
}

func noNamespace(name string) error {
	return failure(http.StatusNotFound, "no namespace %q; GET /namespaces lists them", name)
}

type namespaceEntry struct {
	Name string `json:"name"`
	Addr string `json:"addr" about:"the connect string of its clients"`
}

// namespaceBody may name a new namespace.
type namespaceBody struct {
	Name *string `json:"name,omitempty" about:"1 to 64 letters, digits, - and _; a free one if absent"`
}

func entryOf(n *namespace) namespaceEntry { return namespaceEntry{n.name, connectString(n.addrs)} }

func getNamespaces(r *request) ([]namespaceEntry, error) {
	entries := []namespaceEntry{}
	for _, n := range r.control.namespaces.list() {
		entries = append(entries, entryOf(n))
	}
	return entries, nil
}

func postNamespace(r *request) (entry namespaceEntry, err error) {
	var body namespaceBody
	if err := r.decode(&body); err != nil {
		return entry, err
	}
	name := ""
	if body.Name != nil {
		if name = *body.Name; name == "" {
			return entry, errors.New(`name: ""; expected a name, or no "name" at all`)
		}
	}
	made, err := r.control.namespaces.add(name)
	if err != nil {
		return entry, err
	}
	return entryOf(made), nil
}

func deleteNamespace(r *request) (deleted deletedEntry, err error) {
	name := r.PathValue("name")
	switch found, err := r.control.namespaces.remove(name); {
	case err != nil:
		return deleted, err
	case !found:
		return deleted, noNamespace(name)
	}
	r.control.memory.freed()
	return deletedEntry{name}, nil
}

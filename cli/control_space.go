package cli

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

// A space is a server with its address: the one of zksim serve, or that of a namespace. A namespace
// has a server of its own on a port of its own, so tests in different namespaces share nothing, not
// even the names of sessions or a restart.
type space struct {
	name  string
	addrs []string // of the servers
	*fakezk.Server

	arming sync.Mutex // held while faults are armed and listed, or disarmed
}

// maxSpaces bounds the namespaces of an endpoint.
const maxSpaces = 100

var spaceEndpoints = []endpoint{
	{
		Method: "GET", Path: "/namespaces", Does: "the namespaces and their addresses",
		handle: getSpaces,
	},
	{
		Method: "POST", Path: "/namespaces", Takes: `{"name":"a"} or nothing for a free name`,
		Does:   "make a namespace: an empty server on a free port",
		handle: postSpace,
	},
	{
		Method: "DELETE", Path: "/namespaces/{name}", Does: "end a namespace with all it holds",
		handle: deleteSpace,
	},
}

// spaces are the namespaces of a zksim serve.
type spaces struct {
	opts fakezk.Options
	tls  *tls.Config
	host string // without a port

	mu     sync.Mutex
	all    map[string]*space
	made   int  // namespaces so far
	closed bool // for good
	served sync.WaitGroup
	failed func(name string, err error) // called when a listener fails
}

// find returns nil if there is no namespace of that name.
func (s *spaces) find(name string) *space {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[name]
}

func (s *spaces) list() []*space {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*space
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		list = append(list, s.all[name])
	}
	return list
}

var spaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// add starts the server of a new namespace. Without a name it gets n1, n2 and so on.
func (s *spaces) add(name string) (*space, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if name == "" {
		for name = fmt.Sprint("n", s.made); s.all[name] != nil; name = fmt.Sprint("n", s.made) {
			s.made++
		}
	}
	switch {
	case !spaceName.MatchString(name):
		return nil, fmt.Errorf("name: %q; expected 1 to 64 letters, digits, - and _", name)
	case s.closed:
		return nil, failure(http.StatusServiceUnavailable, "the server stops")
	case s.all[name] != nil:
		return nil, failure(http.StatusConflict, "namespace %q exists", name)
	case len(s.all) >= maxSpaces:
		return nil, failure(http.StatusConflict, "%d namespaces exist; DELETE /namespaces/NAME "+
			"ends one", maxSpaces)
	}
	return s.start(name)
}

// start opens a port for a namespace. The lock is held.
func (s *spaces) start(name string) (*space, error) {
	listeners, err := listenAll(net.JoinHostPort(s.host, "0"), max(1, s.opts.Servers))
	if err != nil {
		return nil, failure(http.StatusInternalServerError, "namespace %q: %v", name, err)
	}
	opts := s.opts
	if opts.Logger != nil {
		opts.Logger = opts.Logger.With("namespace", name)
	}
	made := &space{name: name, addrs: addressesOf(listeners), Server: fakezk.New(opts)}
	if s.all == nil {
		s.all = map[string]*space{}
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
func (s *spaces) remove(name string) (bool, error) {
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
func (s *spaces) close() error {
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

func noSpace(name string) error {
	return failure(http.StatusNotFound, "no namespace %q; GET /namespaces lists them", name)
}

type spaceEntry struct {
	Name string `json:"name"`
	Addr string `json:"addr"`
}

func getSpaces(r *controlRequest) (any, error) {
	entries := []spaceEntry{}
	for _, s := range r.control.spaces.list() {
		entries = append(entries, spaceEntry{s.name, connectString(s.addrs)})
	}
	return entries, nil
}

func postSpace(r *controlRequest) (any, error) {
	var name *string
	if err := decodeBody(r.Request, jsonFields{"name": &name}); err != nil {
		return nil, err
	}
	if name == nil {
		name = new(string)
	} else if *name == "" {
		return nil, errors.New(`name: ""; expected a name, or no "name" at all`)
	}
	made, err := r.control.spaces.add(*name)
	if err != nil {
		return nil, err
	}
	return created{spaceEntry{made.name, connectString(made.addrs)}}, nil
}

func deleteSpace(r *controlRequest) (any, error) {
	switch found, err := r.control.spaces.remove(r.arg); {
	case err != nil:
		return nil, err
	case !found:
		return nil, noSpace(r.arg)
	}
	return map[string]string{"deleted": r.arg}, nil
}

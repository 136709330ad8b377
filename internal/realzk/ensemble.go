package realzk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// StartEnsemble returns the running servers of one ensemble, as Start does for a single one.
// Server.Restart restarts one of them.
func StartEnsemble(t testing.TB, servers int, opts Options) []*Server {
	t.Helper()
	if os.Getenv(givenServer) != "" {
		t.Skipf("the test needs an ensemble of its own, not the server of %s", givenServer)
	}
	var list []*Server
	var err error
	for try := 1; try <= maxTries; try++ {
		if list, err = launchEnsemble(servers, opts); err == nil || !errors.Is(err, errPortTaken) {
			break
		}
	}
	switch {
	case errors.Is(err, ErrMissing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	for _, s := range list {
		s.endWith(t)
	}
	return list
}

// launchEnsemble makes one attempt on free ports. None serves before a majority has started.
func launchEnsemble(servers int, opts Options) ([]*Server, error) {
	ports, err := freePorts(3 * servers)
	if err != nil {
		return nil, fmt.Errorf("start an ensemble: %w", err)
	}
	list, ends := make([]*Server, servers), make(chan error, servers)
	for i := range servers {
		go func() {
			var err error
			list[i], err = launchAt(context.Background(), ports[i], i+1,
				opts.of(i, ports[servers:]))
			ends <- err
		}()
	}
	var errs []error
	for range servers {
		errs = append(errs, <-ends)
	}
	if err := errors.Join(errs...); err != nil {
		for _, s := range list {
			if s != nil {
				err = errors.Join(err, s.Stop())
			}
		}
		return nil, err
	}
	return list, nil
}

// of returns the options of a server in an ensemble: each has two of the ports, for the others.
func (o Options) of(server int, ports []int) Options {
	o.Config = slices.Clone(o.Config)
	for i := range len(ports) / 2 {
		data, election := ports[2*i], ports[2*i+1]
		if o.Between != nil && i != server {
			data, election = o.Between(server, i, data), o.Between(server, i, election)
		}
		o.Config = append(o.Config, fmt.Sprintf("server.%d=127.0.0.1:%d:%d", i+1, data, election))
	}
	o.Config = append(o.Config, "initLimit=20", "syncLimit=10")
	return o
}

// freePorts returns different ports, which it holds until it has all of them.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // nothing was accepted from it
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// writeID writes the number of a server in its ensemble.
func writeID(folder string, id int) error {
	return os.WriteFile(filepath.Join(folder, "myid"), []byte(strconv.Itoa(id)), 0o666)
}

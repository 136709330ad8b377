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
	t.Cleanup(list[0].between.close)
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
	var network *between
	if opts.Cuttable {
		network = newBetween()
	}
	list, ends := make([]*Server, servers), make(chan error, servers)
	for i := range servers {
		go func() {
			own, err := opts.of(i, ports[servers:], network)
			if err == nil {
				list[i], err = launchAt(context.Background(), ports[i], i+1, own)
			}
			if list[i] != nil {
				list[i].number, list[i].between = i, network
			}
			ends <- err
		}()
	}
	var errs []error
	for range servers {
		errs = append(errs, <-ends)
	}
	if err := errors.Join(errs...); err != nil {
		network.close()
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
func (o Options) of(server int, ports []int, network *between) (Options, error) {
	o.Config = slices.Clone(o.Config)
	for i := range len(ports) / 2 {
		data, election := ports[2*i], ports[2*i+1]
		if network != nil && i != server {
			var err1, err2 error
			data, err1 = network.proxy(server, i, data)
			election, err2 = network.proxy(server, i, election)
			if err := errors.Join(err1, err2); err != nil {
				return o, err
			}
		}
		o.Config = append(o.Config, fmt.Sprintf("server.%d=127.0.0.1:%d:%d", i+1, data, election))
	}
	o.Config = append(o.Config, "initLimit=20", "syncLimit=10")
	return o, nil
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

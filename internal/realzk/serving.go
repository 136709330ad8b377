package realzk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// waitUntilServing asks srvr until the server answers that it serves, its process
// ends (p may be nil), or ctx is done.
func waitUntilServing(ctx context.Context, address string, p *process) error {
	var ended chan struct{} // nil: never
	if p != nil {
		ended = p.done
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := serves(ctx, address)
		select {
		case <-ended: // even if another server serves at the address
			return fmt.Errorf("it ended by itself (%w):\n%s", p.err, p.log.String())
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", address, errors.Join(ctx.Err(), err))
		case <-time.After(pause):
		}
	}
}

// serves asks srvr, the only four-letter word that is enabled by default.
func serves(ctx context.Context, address string) error {
	answer, err := ask(ctx, address, "srvr")
	if err == nil && !strings.Contains(answer, "Mode: ") {
		err = fmt.Errorf("srvr: answered %q", answer)
	}
	return err
}

// ask returns the answer to a four-letter word.
func ask(ctx context.Context, address, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	answer, err := exchange(ctx, conn, word)
	return string(answer), errors.Join(err, conn.Close())
}

// exchange writes a word and reads until the server closes or ctx has its deadline.
func exchange(ctx context.Context, conn net.Conn, word string) ([]byte, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	if _, err := io.WriteString(conn, word); err != nil {
		return nil, err
	}
	return io.ReadAll(conn)
}

// checkOwn returns errPortTaken if the server at the address keeps its data outside
// of the folder: then another server has the port, and the one of this package is
// about to end. A server that may not answer conf counts as the own one.
func checkOwn(ctx context.Context, address, folder string) error {
	conf, err := ask(ctx, address, "conf")
	if err != nil {
		return fmt.Errorf("conf: %w", err)
	}
	for line := range strings.Lines(conf) {
		dir, ok := strings.CutPrefix(strings.TrimSpace(line), "dataDir=")
		if ok && !strings.HasPrefix(dir, folder+"/") {
			return fmt.Errorf("%w: the server there has its data in %s", errPortTaken, dir)
		}
	}
	return nil
}

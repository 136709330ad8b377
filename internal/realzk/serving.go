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

// waitUntilServing asks for srvr until the server says that it serves, the
// process ends (p may be nil) or ctx is done.
func waitUntilServing(ctx context.Context, address string, p *process) error {
	var ended chan struct{} // nil: never
	if p != nil {
		ended = p.done
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := serves(ctx, address)
		select {
		case <-ended: // also if somebody else serves at the address
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

// serves asks one four-letter word, srvr, the only one enabled by default.
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
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends the read
	defer func() { _ = conn.Close() }()                         // all was read
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// checkOwn returns errPortTaken if the server at an address keeps its data
// somewhere else than in a folder: it was there first, and the one that was
// started may not have noticed yet. A server that may not tell is believed.
func checkOwn(ctx context.Context, address, folder string) error {
	conf, err := ask(ctx, address, "conf")
	if err != nil {
		return fmt.Errorf("conf: %w", err)
	}
	for line := range strings.Lines(conf) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "dataDir="); ok && !strings.HasPrefix(dir, folder+"/") {
			return fmt.Errorf("%w: the server there has its data in %s", errPortTaken, dir)
		}
	}
	return nil
}

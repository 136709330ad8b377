package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/tree"
)

// serverFlags are the settings of the server, under ZooKeeper's names.
type serverFlags struct {
	TickTime               time.Duration `help:"Unit of time of session expiry." default:"2s"`
	MinSessionTimeout      time.Duration `help:"Least session timeout; 0 is 2 ticks." default:"0" placeholder:"DURATION"`
	MaxSessionTimeout      time.Duration `help:"Greatest session timeout; 0 is 20 ticks." default:"0" placeholder:"DURATION"`
	MaxClientCnxns         int           `help:"Connections that one IP address may have; 0 is no limit." default:"60"`
	JuteMaxBuffer          int           `help:"Longest request in bytes." default:"1048575"`
	SuperDigest            string        `help:"Digest identity that passes every ACL, as super:BASE64." placeholder:"ID"`
	SASLUser               []string      `help:"User who may authenticate by SASL DIGEST-MD5, as in a JAAS file; may be repeated." name:"sasl-user" sep:"none" placeholder:"NAME=PASSWORD"`
	EnforceQuota           bool          `help:"Refuse writes beyond the hard limits of quotas."`
	ContainerCheckInterval time.Duration `help:"Time between two searches for containers and TTL nodes to delete." default:"60s"`
	FourLetterWords        string        `help:"Four-letter words to answer, with commas between; * is all." default:"*" placeholder:"LIST"`
}

// options are the options of a server with these flags. The error names a wrong flag.
func (f serverFlags) options() (fakezk.Options, error) {
	o := fakezk.Options{
		TickTime:          f.TickTime,
		MinSessionTimeout: f.MinSessionTimeout, MaxSessionTimeout: f.MaxSessionTimeout,
		MaxClientConns: f.MaxClientCnxns, MaxFrame: f.JuteMaxBuffer, SuperDigest: f.SuperDigest,
		EnforceQuota: f.EnforceQuota, ContainerCheckInterval: f.ContainerCheckInterval,
	}
	if f.MaxClientCnxns == 0 {
		o.MaxClientConns = -1
	}
	err := f.checkTimeouts()
	if err == nil {
		err = f.check()
	}
	if err == nil {
		o.SASLUsers, err = saslUsers(f.SASLUser)
	}
	if err != nil {
		return o, err
	}
	o.FourLetterWords, err = fourLetterWords(f.FourLetterWords)
	return o, err
}

// check checks the flags other than those of time-outs.
func (f serverFlags) check() error {
	switch {
	case f.MaxClientCnxns < 0:
		return fmt.Errorf("--max-client-cnxns: %d; expected 0 or more", f.MaxClientCnxns)
	case f.JuteMaxBuffer < 64 || f.JuteMaxBuffer > 1<<30:
		return fmt.Errorf("--jute-max-buffer: %d; expected 64 to %d bytes", f.JuteMaxBuffer, 1<<30)
	case f.SuperDigest != "" && !isSuperDigest(f.SuperDigest):
		return fmt.Errorf("--super-digest: %q; expected super: and the base64 of a SHA-1",
			f.SuperDigest)
	case f.ContainerCheckInterval < time.Millisecond:
		return fmt.Errorf("--container-check-interval: %s; expected at least 1ms",
			f.ContainerCheckInterval)
	}
	return nil
}

// checkTimeouts refuses a least time-out above the greatest, as ZooKeeper does, and times that its
// protocol cannot express.
func (f serverFlags) checkTimeouts() error {
	const longest = fakezk.LongestTimeout
	least, greatest := f.MinSessionTimeout, f.MaxSessionTimeout
	switch {
	case f.TickTime < time.Millisecond || f.TickTime > longest:
		return fmt.Errorf("--tick-time: %s; expected 1ms to %s", f.TickTime, longest)
	case least != 0 && (least < time.Millisecond || least > longest):
		return fmt.Errorf("--min-session-timeout: %s; expected 1ms to %s", least, longest)
	case greatest != 0 && (greatest < time.Millisecond || greatest > longest):
		return fmt.Errorf("--max-session-timeout: %s; expected 1ms to %s", greatest, longest)
	}
	return f.checkOrder()
}

// checkOrder compares the least and the greatest time-out, with their defaults.
func (f serverFlags) checkOrder() error {
	least, greatest := f.MinSessionTimeout, f.MaxSessionTimeout
	leastIs, greatestIs := "--min-session-timeout", "--max-session-timeout"
	if least == 0 {
		least, leastIs = 2*f.TickTime, "2 ticks, the default of --min-session-timeout"
	}
	if greatest == 0 {
		greatest, greatestIs = 20*f.TickTime, "20 ticks, the default of --max-session-timeout"
	}
	switch {
	case least > greatest:
		return fmt.Errorf("the least session timeout, %s (%s), is more than the greatest, %s (%s)",
			least, leastIs, greatest, greatestIs)
	case greatest > fakezk.LongestTimeout:
		return fmt.Errorf("the greatest session timeout is %s (%s); expected at most %s",
			greatest, greatestIs, fakezk.LongestTimeout)
	}
	return nil
}

// isSuperDigest reports whether an identity has the form super:base64(sha1(...)). The base64 has 28
// characters.
func isSuperDigest(id string) bool {
	hash, ok := strings.CutPrefix(id, "super:")
	return ok && len(hash) == 28
}

// saslUsers reads a list of NAME=PASSWORD. A password is not part of an error.
func saslUsers(list []string) (map[string]string, error) {
	users := map[string]string{}
	for i, text := range list {
		name, password, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf(
				"--sasl-user: value %d has no name or no =; expected NAME=PASSWORD", i+1)
		}
		if _, twice := users[name]; twice {
			return nil, fmt.Errorf("--sasl-user: user %q is given twice", name)
		}
		users[name] = password
	}
	return users, nil
}

// fourLetterWords reads a list such as "ruok,srvr"; "" is no word.
func fourLetterWords(list string) ([]string, error) {
	words := []string{}
	for word := range strings.SplitSeq(list, ",") {
		switch word = strings.TrimSpace(word); {
		case word == "" && strings.TrimSpace(list) == "":
		case word == "*" || fakezk.IsFourLetterWord(word):
			words = append(words, word)
		default:
			return nil, fmt.Errorf("--four-letter-words: %q is not a word of ZooKeeper; "+
				"expected words such as ruok or srvr with commas between, or *", word)
		}
	}
	return words, nil
}

// tlsConfig reads the certificates. It is nil without them: plain TCP.
func (c *Command) tlsConfig() (*tls.Config, error) {
	if c.TLSCert == "" && c.TLSKey == "" && c.TLSClientCA == "" {
		return nil, nil
	}
	if c.TLSCert == "" || c.TLSKey == "" {
		return nil, errors.New("--tls-cert and --tls-key go together; --tls-client-ca needs both")
	}
	cert, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.TLSCert, c.TLSKey, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if c.TLSClientCA != "" {
		pem, err := os.ReadFile(c.TLSClientCA)
		if err != nil {
			return nil, fmt.Errorf("--tls-client-ca: %w", err)
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--tls-client-ca: %s: no certificate found; expected PEM",
				c.TLSClientCA)
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}

// checkDump checks, before any other work, that a dump can be written. It makes the directory.
func checkDump(name string) error {
	if name == "" {
		return nil
	}
	if _, err := tree.FormatOf(name); err != nil {
		return fmt.Errorf("--dump: %w", err)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("--dump: %s is a directory", name)
	}
	return command.CheckDir("--dump", filepath.Dir(name))
}

// checkToken checks the token of the control endpoint, which has to fit into a header. The token is
// not part of an error.
func checkToken(token string) error {
	for i, r := range token {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("--control-token: its byte %d is a space, a control character or no "+
				"ASCII; expected letters, digits and signs", i+1)
		}
	}
	return nil
}

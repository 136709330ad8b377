package tlsend

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"sync"
	"time"
)

// The authority's key is known to all, so that its certificate is the same in each process. It
// protects nothing.
var authorityKey = ed25519.NewKeyFromSeed([]byte("zksim: the key of no real server"))

// authority is the certificate of the authority.
var authority = sync.OnceValue(func() *x509.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "zksim"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	c, err := x509.ParseCertificate(sign(template, template))
	if err != nil {
		panic(fmt.Sprintf("tlsend: %v", err))
	}
	return c
})

// sign returns a certificate of the authority's key. It is valid at the time of any test, also in a
// testing/synctest bubble, where it is the year 2000.
func sign(template, parent *x509.Certificate) []byte {
	template.NotBefore = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	template.NotAfter = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, authorityKey.Public(),
		authorityKey)
	if err != nil {
		panic(fmt.Sprintf("tlsend: %v", err)) // only a wrong template of ours can do it
	}
	return der
}

// RootCA is the certificate of the authority, as PEM.
func RootCA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority().Raw})
}

// configFor is the server's configuration for a connection to a host.
func configFor(host string) *tls.Config {
	return &tls.Config{
		SessionTicketsDisabled: true,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return certificateFor(cmp.Or(hello.ServerName, host)), nil
		},
	}
}

// certificateFor is a certificate for a host, a name or an address, and for this machine.
func certificateFor(host string) *tls.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	template.DNSNames = []string{"localhost"}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = append(template.IPAddresses, ip)
	} else if !slices.Contains(template.DNSNames, host) && host != "" {
		template.DNSNames = append(template.DNSNames, host)
	}
	return &tls.Certificate{
		Certificate: [][]byte{sign(template, authority())}, PrivateKey: authorityKey,
	}
}

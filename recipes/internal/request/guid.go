package request

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
)

// NewGUID returns a unique name of 32 hexadecimal digits. It reads rand.Reader, as the client does
// for its own protected names.
func NewGUID() (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(rand.Reader, raw[:]); err != nil {
		return "", fmt.Errorf("make a guid: %w", err)
	}
	return hex.EncodeToString(raw[:]), nil
}

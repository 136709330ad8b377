package record

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// attribute is the name of the attribute that has a line.
const attribute = "zksim"

// NewLog returns a Recorder that sends each line to a handler, as the attribute zksim of a record
// of the level Info. The handler must keep the order of the records. Its method Enabled is not
// called.
func NewLog(h slog.Handler) *Recorder {
	return start(func(lines []byte) error {
		for line := range bytes.Lines(lines) {
			r := slog.NewRecord(time.Now(), slog.LevelInfo, "history of zksim", 0)
			r.AddAttrs(slog.Any(attribute, json.RawMessage(bytes.TrimSuffix(line, []byte("\n")))))
			if err := h.Handle(context.Background(), r); err != nil {
				return err
			}
		}
		return nil
	})
}

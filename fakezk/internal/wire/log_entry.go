package wire

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// DecodeLogEntry decodes one entry of a transaction log without its checksum and length: a
// TxnHeader and the record of zookeeper.jute that its type names. Bytes after them, as newer
// servers append, are ignored. The error wraps [ErrUnknownOp] or [ErrMalformed].
func DecodeLogEntry(entry []byte) (proto.LogEntry, error) {
	r := reader{rest: entry, fromServer: true}
	var e proto.LogEntry
	e.Session = r.int64("txn.clientId")
	e.Cxid = r.int32("txn.cxid")
	e.Zxid = r.int64("txn.zxid")
	e.TimeMs = r.int64("txn.time")
	e.Op = proto.OpCode(r.int32("txn.type"))
	if e.Op == proto.OpMulti {
		e.Records = r.logRecords()
	} else if record, ok := r.logRecord(e.Op); ok {
		e.Records = []proto.LogRecord{record}
	}
	if r.err != nil {
		return proto.LogEntry{}, fmt.Errorf("log entry %s: %w", e.Op, r.err)
	}
	return e, nil
}

// logRecords reads a MultiTxn: a list of types, each with its record as bytes. If one is an error,
// the multi was refused: none of its records was applied, so it returns none (DataTree.processTxn).
func (r *reader) logRecords() []proto.LogRecord {
	var list []proto.LogRecord
	refused := false
	n, _ := r.count("txn.txns", 8)
	for range n {
		op := proto.OpCode(r.int32("txn.type"))
		refused = refused || op == proto.OpError
		inner := reader{rest: r.buffer("txn.data"), fromServer: true}
		if record, ok := inner.logRecord(op); ok {
			list = append(list, record)
		}
		if r.err == nil {
			r.err = inner.err
		}
	}
	if refused {
		return nil
	}
	return list
}

// logRecord reads one record. It returns false for an error record, which changes
// nothing, and for one that cannot be decoded.
func (r *reader) logRecord(op proto.OpCode) (proto.LogRecord, bool) {
	record := proto.LogRecord{Op: op}
	switch op {
	case proto.OpCreate, proto.OpCreate2:
		r.created(&record)
		record.Ephemeral = r.bool("txn.ephemeral")
		record.Siblings = r.int32("txn.parentCVersion")
	case proto.OpCreateContainer:
		r.created(&record)
		record.Siblings = r.int32("txn.parentCVersion")
	case proto.OpCreateTTL:
		r.created(&record)
		record.Siblings = r.int32("txn.parentCVersion")
		record.TTL = r.int64("txn.ttl")
	case proto.OpSetData, proto.OpReconfig: // both have a SetDataTxn
		record.Path = r.path()
		record.Data = r.buffer("txn.data")
	case proto.OpSetACL:
		record.Path = r.path()
		record.ACL = r.acls()
	case proto.OpDelete, proto.OpDeleteContainer, proto.OpCheck:
		record.Path = r.path()
	case proto.OpCreateSession, proto.OpCloseSession:
	case proto.OpError:
		return record, false
	default:
		if r.err == nil {
			r.err = fmt.Errorf("%w %d", ErrUnknownOp, int32(op))
		}
		return record, false
	}
	return record, r.err == nil
}

// created reads what all records of created nodes begin with.
func (r *reader) created(record *proto.LogRecord) {
	record.Path = r.path()
	record.Data = r.buffer("txn.data")
	record.ACL = r.acls()
}

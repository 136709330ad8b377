package refstore

// OpKind is the kind of an [Op] of a multi.
type OpKind int

// The operations a multi may hold.
const (
	OpCreate OpKind = iota
	OpDelete
	OpSet
	OpCheck // nothing, but fails if the version is another
)

// Op is one write. Which fields matter depends on Kind: Data for create and set, Mode and ACL for
// create, Version for the other three. A nil ACL is refused, as a server does.
type Op struct {
	Kind    OpKind
	Path    string
	Data    []byte
	Mode    Mode
	ACL     []ACL
	Version int32
}

// Result is the answer to one [Op]: the path of a create, the Stat of a set, and the code. Inside a
// multi, servers answer a create with its path only, so there a create has no Stat.
type Result struct {
	Path string
	Stat Stat
	Code Code
}

// Multi applies all operations at one zxid or none of them. Later operations see earlier ones. If
// one is refused, its code is the second result, the operations before it answer [OK] and those
// behind it [RuntimeInconsistency]; nothing has happened, except that the zxid is used up.
func (s *Store) Multi(session int64, ops []Op) ([]Result, Code) {
	if !s.open[session] {
		return nil, SessionExpired
	}
	s.zxid++
	trial := s.clone()
	results := make([]Result, len(ops))
	for i, op := range ops {
		results[i] = trial.apply(session, op)
		if code := results[i].Code; code != OK {
			return refuse(results, i), code
		}
		if op.Kind == OpCreate {
			results[i].Stat = Stat{}
		}
	}
	*s = *trial
	return results, OK
}

func refuse(results []Result, failed int) []Result {
	for i := range results {
		switch {
		case i < failed:
			results[i] = Result{}
		case i > failed:
			results[i] = Result{Code: RuntimeInconsistency}
		}
	}
	return results
}

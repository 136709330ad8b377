package proto

// PathOf is the path that a request is about; for a multi, that of its first operation.
func PathOf(req Request) string {
	if path := pathField(req); path != nil {
		return *path
	}
	if ops := opsOf(req); len(ops) > 0 {
		return PathOf(ops[0])
	}
	return ""
}

// MapPaths changes each path in a request, also those of the operations of a multi.
func MapPaths(req Request, change func(string) string) {
	if path := pathField(req); path != nil {
		*path = change(*path)
	}
	for _, op := range opsOf(req) {
		MapPaths(op, change)
	}
	if r, ok := req.(*SetWatches); ok {
		for _, paths := range [][]string{r.DataWatches, r.ExistWatches, r.ChildWatches,
			r.PersistentWatches, r.RecursiveWatches} {
			mapAll(paths, change)
		}
	}
}

// pathField is the path of a request that has one, nil for all others.
func pathField(req Request) *string {
	switch r := req.(type) {
	case *Create:
		return &r.Path
	case *Delete:
		return &r.Path
	case *DeleteContainer:
		return &r.Path
	case *Exists:
		return &r.Path
	case *GetData:
		return &r.Path
	case *SetData:
		return &r.Path
	case *GetACL:
		return &r.Path
	case *SetACL:
		return &r.Path
	case *GetChildren:
		return &r.Path
	case *GetAllChildrenNumber:
		return &r.Path
	case *GetEphemerals:
		return &r.Prefix
	case *Sync:
		return &r.Path
	case *Check:
		return &r.Path
	case *AddWatch:
		return &r.Path
	case *Watches:
		return &r.Path
	}
	return nil
}

// opsOf are the operations of a multi.
func opsOf(req Request) []Request {
	switch r := req.(type) {
	case *Multi:
		return r.Ops
	case *MultiRead:
		return r.Ops
	}
	return nil
}

// MapReplyPaths returns the reply with each path changed, also those in the results of a multi.
func MapReplyPaths(reply Reply, change func(string) string) Reply {
	switch r := reply.(type) {
	case PathReply:
		r.Path = change(r.Path)
		return r
	case PathStatReply:
		r.Path = change(r.Path)
		return r
	case EphemeralsReply:
		mapAll(r.Paths, change)
	case MultiReply:
		for i := range r.Results {
			r.Results[i].Reply = MapReplyPaths(r.Results[i].Reply, change)
		}
	}
	return reply
}

func mapAll(paths []string, change func(string) string) {
	for i := range paths {
		paths[i] = change(paths[i])
	}
}

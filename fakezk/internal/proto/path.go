package proto

// PathOf is the path that a request is about; for a multi, that of its first operation.
func PathOf(req Request) string {
	switch r := req.(type) {
	case *Create:
		return r.Path
	case *Delete:
		return r.Path
	case *DeleteContainer:
		return r.Path
	case *Exists:
		return r.Path
	case *GetData:
		return r.Path
	case *SetData:
		return r.Path
	case *GetACL:
		return r.Path
	case *SetACL:
		return r.Path
	case *GetChildren:
		return r.Path
	case *GetAllChildrenNumber:
		return r.Path
	case *GetEphemerals:
		return r.Prefix
	case *Sync:
		return r.Path
	case *Check:
		return r.Path
	case *AddWatch:
		return r.Path
	case *Watches:
		return r.Path
	case *Multi:
		return pathOfFirst(r.Ops)
	case *MultiRead:
		return pathOfFirst(r.Ops)
	}
	return ""
}

func pathOfFirst(ops []Request) string {
	if len(ops) == 0 {
		return ""
	}
	return PathOf(ops[0])
}

// MapPaths changes each path in a request, also those of the operations of a multi.
func MapPaths(req Request, change func(string) string) {
	switch r := req.(type) {
	case *Create:
		r.Path = change(r.Path)
	case *Delete:
		r.Path = change(r.Path)
	case *DeleteContainer:
		r.Path = change(r.Path)
	case *Exists:
		r.Path = change(r.Path)
	case *GetData:
		r.Path = change(r.Path)
	case *SetData:
		r.Path = change(r.Path)
	case *GetACL:
		r.Path = change(r.Path)
	case *SetACL:
		r.Path = change(r.Path)
	case *GetChildren:
		r.Path = change(r.Path)
	case *GetAllChildrenNumber:
		r.Path = change(r.Path)
	case *GetEphemerals:
		r.Prefix = change(r.Prefix)
	case *Sync:
		r.Path = change(r.Path)
	case *Check:
		r.Path = change(r.Path)
	case *AddWatch:
		r.Path = change(r.Path)
	case *Watches:
		r.Path = change(r.Path)
	case *SetWatches:
		for _, paths := range [][]string{r.DataWatches, r.ExistWatches, r.ChildWatches,
			r.PersistentWatches, r.RecursiveWatches} {
			mapAll(paths, change)
		}
	case *Multi:
		for _, op := range r.Ops {
			MapPaths(op, change)
		}
	case *MultiRead:
		for _, op := range r.Ops {
			MapPaths(op, change)
		}
	}
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

package task

import (
	"context"
	"sync"
)

// LatestValue is a value that one goroutine replaces and other goroutines read or wait for. The
// value must not be changed in place. The zero LatestValue is ready for use.
type LatestValue[T any] struct {
	mu      sync.Mutex
	value   T
	changed chan struct{} // closed when the value is replaced; nil: no reader
	over    bool          // the value is final
}

// Post replaces the value, unless it is final.
func (p *LatestValue[T]) Post(value T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.value = value
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// End posts the final value, made by last from the present one.
func (p *LatestValue[T]) End(last func(T) T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.over, p.value = true, last(p.value)
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	close(p.changed)
}

// Read returns the value, and a channel that is closed when the value is replaced or final.
func (p *LatestValue[T]) Read() (T, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.value, p.changed
}

// Await waits until fits accepts the value or returns an error. fits must do one or the other for
// the final value.
func (p *LatestValue[T]) Await(ctx context.Context, fits func(T) (bool, error)) (T, error) {
	for {
		value, changed := p.Read()
		if ok, err := fits(value); ok || err != nil {
			return value, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return value, context.Cause(ctx)
		}
	}
}

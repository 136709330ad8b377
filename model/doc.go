// Package model specifies the objects that recipes build: [Lock], [ReentrantLock], [RWLock],
// [Semaphore], [Queue], [PriorityQueue], [DelayQueue], [Counter], [Value], [Register], [Barrier]
// and [Transaction], each as a sequential object, with one operation at a time.
//
// Each object is a small comparable value with a method Step. Step returns the possible states
// after an operation: none if the operation is impossible, and perhaps two if its outcome is
// unknown.
//
//	states := model.Lock{}.Step(model.LockOp{Kind: model.Acquire, By: owner, Token: 7})
//
// The models are simple, not fast. They import only the standard library and share no code with the
// recipes that they judge, so one mistake cannot hide in both.
//
// The kinds of locks share one type of operation, [LockOp]. Another kind of object is added as one
// file: a comparable state, an operation with an [Outcome], and Step.
package model

"""Plays the scripts of bench/others with kazoo's recipes.

It reads commands from its standard input, one a line, words apart by tabs:

    run RECIPE ADDRESS ROUNDS   two fresh clients, a and b, connect
    go                          both play their scripts
    end                         their sessions are closed

and prints what happens, one line each: ready, connected, call, ok, empty,
unknown, told, done, note, closed. The second word is the client; the third of
call, ok, empty, unknown and told is the time in nanoseconds since 1970.

Settings: those that kazoo has by default (it tries again for ever), but for the
session timeout of four seconds.
"""

import logging
import sys
import threading
import time
import traceback

import kazoo.recipe.queue
import kazoo.version
from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState

PATH = "/others/object"
HOLD = 0.015  # seconds
LATER = 0.01  # b begins, so that the order is always the same
PAUSE = 0.1   # after an error
QUIET = 3.0   # a taker that gets nothing for so long goes

printing = threading.Lock()


def tell(*words):
    line = "\t".join(str(w).replace("\t", " ").replace("\n", " ") for w in words)
    with printing:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


class Player:
    """One client and its script."""

    def __init__(self, name, client, rounds, other):
        self.name, self.client, self.rounds, self.other = name, client, rounds, other
        self.first = name == "a"

    def connected(self):
        tell("connected", self.name, "%x" % self.client.client_id[0])
        self.client.add_listener(self.listen)

    def listen(self, state):
        if state == KazooState.SUSPENDED:
            tell("told", self.name, time.time_ns(), "disconnected")

    def play(self, script):
        if not self.first:
            time.sleep(LATER)
        try:
            script(self)
        except Exception as err:
            tell("note", self.name, "the script broke off: %s" % traceback.format_exc(limit=-3))
        tell("done", self.name)

    def do(self, kind, operation, argument="", result=lambda got: got or ""):
        """Calls an operation once and tells of it; returns (succeeded, result)."""
        tell("call", self.name, time.time_ns(), kind, argument)
        try:
            got = operation()
        except Exception as err:
            tell("unknown", self.name, time.time_ns(), "%s: %s" % (type(err).__name__, err))
            time.sleep(PAUSE)
            return False, None
        tell("ok", self.name, time.time_ns(), result(got))
        return True, got

    def persist(self, kind, operation, argument="", attempts=0):
        """Calls an operation until it succeeds, or so many times."""
        tried = 0
        while True:
            if self.do(kind, operation, argument)[0]:
                return True
            tried += 1
            if tried == attempts:
                return False


def granted(acquire):
    """An acquire that says no is one that has failed."""
    if acquire() is False:
        raise RuntimeError("it returned False")


def hold(lock):
    def script(p):
        own = lock(p)
        for _ in range(p.rounds):
            p.persist("lock", lambda: granted(own.acquire))
            time.sleep(HOLD)
            p.persist("unlock", lambda: own.release() and None, attempts=3)
    return script


def election(p):
    own = p.client.Election(PATH, p.name)

    def lead():
        tell("ok", p.name, time.time_ns(), "")
        time.sleep(HOLD)
        led.append(True)
        tell("call", p.name, time.time_ns(), "unlock", "")

    for _ in range(p.rounds):
        led = []
        while not led:
            tell("call", p.name, time.time_ns(), "lock", "")
            try:
                own.run(lead)
                tell("ok", p.name, time.time_ns(), "")
            except Exception as err:
                tell("unknown", p.name, time.time_ns(), "%s: %s" % (type(err).__name__, err))
                time.sleep(PAUSE)


def barrier(p):
    own = p.client.Barrier(PATH)
    for n in range(p.rounds):
        up, down = p.other["up"][n], p.other["down"][n]
        if p.first:
            p.persist("set", lambda: own.create() and None)
            up.set()
            time.sleep(2 * HOLD)
            p.persist("remove", lambda: own.remove() and None)
            down.wait()
        else:
            up.wait()
            p.persist("wait", lambda: own.wait() and None)
            down.set()


def double_barrier(p):
    for n in range(p.rounds):
        own = p.client.DoubleBarrier(PATH, 2, p.name)

        def enter():
            own.enter()
            if not own.participating:  # how it tells of a failure
                raise RuntimeError("it does not participate")

        p.persist("enter", enter, "2")
        time.sleep(HOLD)
        p.persist("leave", lambda: own.leave(), attempts=3)


def queue(make, poll, waits):
    """b takes what a offers: from the beginning if a take waits, else afterwards."""
    def script(p):
        own = make(p)
        if p.first:
            if waits:
                p.other["begin"].set()
                time.sleep(2 * HOLD)
            for n in range(2 * p.rounds):
                p.do("offer", lambda: own.put(b"a%d" % n) and None, "a%d" % n)
            p.other["offered"].set()
            p.other["begin"].set()
            return
        p.other["begin"].wait()
        last = time.monotonic()
        while time.monotonic() - last < QUIET:
            over = p.other["offered"].is_set()
            if poll(p, own):
                last = time.monotonic()
            elif over:
                return
            else:
                time.sleep(0.01)
    return script


def poll(p, own):
    return take(p, own.get)


def lock_and_consume(p, own):
    return take(p, lambda: own.get(timeout=1.0),
                lambda: p.persist("consume", lambda: granted(own.consume), attempts=3))


def take(p, get, consume=lambda: None):
    tell("call", p.name, time.time_ns(), "take", "")
    try:
        got = get()
    except Exception as err:
        tell("unknown", p.name, time.time_ns(), "%s: %s" % (type(err).__name__, err))
        time.sleep(PAUSE)
        return True
    if got is None:
        tell("empty", p.name, time.time_ns())
        return False
    tell("ok", p.name, time.time_ns(), got.decode())
    consume()
    return True


def counter(p):
    """The digits of the sum tell how often each was added."""
    own = p.client.Counter(PATH)
    for n in range(p.rounds):
        delta = 10 ** (2 * n + (0 if p.first else 1))
        p.do("add", lambda: (own + delta) and None, str(delta))


def party(p):
    own = p.client.Party(PATH, p.name)
    if p.first:
        p.persist("join", lambda: own.join() and None)
        return
    for _ in range(p.rounds):
        p.persist("join", lambda: own.join() and None)
        time.sleep(HOLD)
        p.persist("leave", lambda: own.leave() and None)


RECIPES = {
    "Lock": hold(lambda p: p.client.Lock(PATH, p.name)),
    "ReadLock, WriteLock": hold(
        lambda p: (p.client.WriteLock if p.first else p.client.ReadLock)(PATH, p.name)),
    "Semaphore": hold(lambda p: p.client.Semaphore(PATH, p.name, 1)),
    "Election": election,
    "Barrier": barrier,
    "DoubleBarrier": double_barrier,
    "Queue": queue(lambda p: p.client.Queue(PATH), poll, waits=False),
    "LockingQueue": queue(lambda p: p.client.LockingQueue(PATH), lock_and_consume, waits=True),
    "Counter": counter,
    "Party": party,
}


class Run:
    def __init__(self, recipe, address, rounds):
        self.script = RECIPES[recipe]
        other = {"offered": threading.Event(), "begin": threading.Event(),
                 "up": [threading.Event() for _ in range(rounds)],
                 "down": [threading.Event() for _ in range(rounds)]}
        self.players = []
        for name in "ab":
            client = KazooClient(hosts=address, timeout=4.0)
            client.start(timeout=10)
            player = Player(name, client, rounds, other)
            self.players.append(player)
            player.connected()

    def go(self):
        for p in self.players:
            threading.Thread(target=p.play, args=(self.script,), daemon=True).start()

    def end(self):
        for p in self.players:
            p.client.remove_listener(p.listen)
            p.client.stop()
            p.client.close()


def main():
    logging.getLogger("kazoo").setLevel(logging.CRITICAL + 1)  # it warns of what is done to it
    tell("ready", "kazoo", kazoo.version.__version__)
    run = None
    for line in sys.stdin:
        words = line.rstrip("\n").split("\t")
        if words[0] == "run":
            run = Run(words[1], words[2], int(words[3]))
        elif words[0] == "go":
            run.go()
        elif words[0] == "end":
            run.end()
            tell("closed")


if __name__ == "__main__":
    main()

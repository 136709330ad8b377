import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBase;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/**
 * Plays the scripts of bench/others with the recipes of Curator and with those
 * of Apache ZooKeeper itself. play_kazoo.py says what it reads and prints.
 *
 * Curator tries again up to fifty times, 100 ms apart, far longer than any fault
 * lasts. Apache's recipes get a plain ZooKeeper handle, and a new one after an
 * expiry. The session timeout is four seconds.
 */
public class Play {
    static final String PATH = "/others/object";
    static final int TIMEOUT = 4000; // ms
    static final int HOLD = 15;
    static final int PAUSE = 100; // after an error
    static final int LATER = 10; // b begins, so that the order is always the same
    static final int QUIET = 3000; // a taker that gets nothing for so long goes

    public static void main(String[] args) throws Exception {
        tell("ready", versions());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Run run = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\t");
            switch (words[0]) {
            case "run":
                run = new Run(words[1], words[2], Integer.parseInt(words[3]));
                break;
            case "go":
                run.go();
                break;
            default:
                run.end();
                tell("closed");
            }
        }
        System.exit(0);
    }

    static String versions() throws Exception {
        return "Curator " + curatorVersion()
            + ", ZooKeeper " + org.apache.zookeeper.Version.getVersion();
    }

    /** Debian's jars have a twin whose name ends with the version. */
    static String curatorVersion() throws Exception {
        Path jar = Path.of(CuratorFramework.class.getProtectionDomain()
            .getCodeSource().getLocation().toURI());
        String pattern = "curator-framework-*.jar";
        try (DirectoryStream<Path> twins = Files.newDirectoryStream(jar.getParent(), pattern)) {
            for (Path twin : twins) {
                String name = twin.getFileName().toString();
                return name.replaceAll("curator-framework-(.*)\\.jar", "$1");
            }
        }
        return "of unknown version";
    }

    static synchronized void tell(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.length() > 0 ? "\t" : "");
            line.append(String.valueOf(word).replaceAll("[\t\r\n]", " "));
        }
        System.out.println(line);
        System.out.flush();
    }

    static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    interface Action {
        void run() throws Exception;
    }

    interface Script {
        void play(Player p) throws Exception;
    }

    /** What both clients of a run know: when something has happened. */
    static class Shared {
        final Map<String, CountDownLatch> latches = new HashMap<>();

        synchronized CountDownLatch latch(String name) {
            return latches.computeIfAbsent(name, n -> new CountDownLatch(1));
        }
    }

    /** One client and its script. */
    static class Player {
        final String name;
        final String address;
        final int rounds;
        final Shared shared;
        final boolean first;
        CuratorFramework curator;
        volatile ZooKeeper zk; // of Apache's recipes
        final List<AutoCloseable> open = new ArrayList<>();
        final Semaphore got = new Semaphore(0); // elements that were consumed
        int taken;

        Player(String name, String address, int rounds, Shared shared) {
            this.name = name;
            this.address = address;
            this.rounds = rounds;
            this.shared = shared;
            first = name.equals("a");
        }

        void connect(boolean plain) throws Exception {
            if (plain) {
                connectPlain();
                tell("connected", name, Long.toHexString(zk.getSessionId()));
                return;
            }
            curator = CuratorFrameworkFactory.newClient(
                address, TIMEOUT, 10_000, new RetryNTimes(50, 100));
            curator.start();
            curator.blockUntilConnected();
            tell("connected", name,
                Long.toHexString(curator.getZookeeperClient().getZooKeeper().getSessionId()));
            curator.getConnectionStateListenable().addListener((c, state) -> {
                if (state == ConnectionState.SUSPENDED) {
                    tell("told", name, now(), "disconnected");
                }
            });
        }

        void connectPlain() throws Exception {
            CountDownLatch connected = new CountDownLatch(1);
            zk = new ZooKeeper(address, TIMEOUT, event -> {
                connected.countDown();
                if (event.getState() == Watcher.Event.KeeperState.Disconnected) {
                    tell("told", name, now(), "disconnected");
                }
            });
            connected.await();
        }

        /** Makes a new handle if the session of the present one has ended; says whether. */
        boolean renew() throws Exception {
            if (zk.getState().isAlive()) {
                return false;
            }
            connectPlain();
            return true;
        }

        void play(Script script) {
            try {
                if (!first) {
                    Thread.sleep(LATER);
                }
                script.play(this);
            } catch (Throwable e) {
                tell("note", name, "the script broke off: " + e + " "
                    + java.util.Arrays.toString(e.getStackTrace()));
            }
            tell("done", name);
        }

        void call(String kind, String input) {
            tell("call", name, now(), kind, input);
        }

        void ok(String output) {
            tell("ok", name, now(), output);
        }

        void unknown(Throwable e) throws Exception {
            tell("unknown", name, now(), e);
            Thread.sleep(PAUSE);
        }

        /** Calls an operation once and says whether it succeeded. */
        boolean once(String kind, String input, Action action) throws Exception {
            call(kind, input);
            try {
                action.run();
            } catch (Exception e) {
                unknown(e);
                return false;
            }
            ok("");
            return true;
        }

        void persist(String kind, String input, Action action) throws Exception {
            while (!once(kind, input, action)) { }
        }

        void attempt(String kind, Action action) throws Exception {
            for (int i = 0; i < 3 && !once(kind, "", action); i++) { }
        }

        /** A queue of strings whose consumer is b. */
        QueueBuilder<String> builder() {
            QueueConsumer<String> consumer = first ? null : new QueueConsumer<>() {
                @Override
                public void consumeMessage(String element) {
                    call("take", "");
                    ok(element);
                    got.release();
                }

                @Override
                public void stateChanged(CuratorFramework client, ConnectionState state) { }
            };
            return QueueBuilder.builder(curator, consumer, new Strings(), PATH);
        }

        void close() throws Exception {
            for (AutoCloseable c : open) {
                try {
                    c.close();
                } catch (IllegalStateException e) {
                    continue; // it is closed already
                }
            }
            if (curator != null) {
                curator.close();
            }
            if (zk != null) {
                zk.close();
            }
        }
    }

    static class Strings implements QueueSerializer<String> {
        @Override
        public byte[] serialize(String item) {
            return item.getBytes();
        }

        @Override
        public String deserialize(byte[] bytes) {
            return new String(bytes);
        }
    }

    static class Run {
        final Script script;
        final List<Player> players = new ArrayList<>();

        Run(String recipe, String address, int rounds) throws Exception {
            script = RECIPES.get(recipe);
            Shared shared = new Shared();
            for (String name : new String[] {"a", "b"}) {
                Player p = new Player(name, address, rounds, shared);
                players.add(p);
                p.connect(recipe.startsWith("recipes."));
            }
        }

        void go() {
            for (Player p : players) {
                Thread t = new Thread(() -> p.play(script));
                t.setDaemon(true);
                t.start();
            }
        }

        void end() throws Exception {
            for (Player p : players) {
                p.close();
            }
        }
    }

    static final Map<String, Script> RECIPES = new HashMap<>();

    static {
        RECIPES.put("InterProcessMutex", p -> hold(p, new InterProcessMutex(p.curator, PATH)));
        RECIPES.put("InterProcessReadWriteLock", p -> {
            InterProcessReadWriteLock lock = new InterProcessReadWriteLock(p.curator, PATH);
            hold(p, p.first ? lock.writeLock() : lock.readLock());
        });
        RECIPES.put("InterProcessMultiLock", p -> hold(p,
            new InterProcessMultiLock(p.curator, List.of(PATH + "/x", PATH + "/y"))));
        RECIPES.put("InterProcessSemaphoreV2", Play::semaphore);
        RECIPES.put("LeaderLatch", Play::latch);
        RECIPES.put("LeaderSelector", Play::selector);
        RECIPES.put("DistributedBarrier", Play::barrier);
        RECIPES.put("DistributedDoubleBarrier", Play::doubleBarrier);
        RECIPES.put("SimpleDistributedQueue", p -> {
            SimpleDistributedQueue q = new SimpleDistributedQueue(p.curator, PATH);
            queue(p, element -> q.offer(element.getBytes()), q::poll);
        });
        RECIPES.put("DistributedQueue", p -> consumed(p, p.builder().buildQueue()));
        RECIPES.put("DistributedQueue, lockPath",
            p -> consumed(p, p.builder().lockPath(PATH + "-locks").buildQueue()));
        RECIPES.put("DistributedIdQueue", p -> consumed(p, p.builder().buildIdQueue()));
        RECIPES.put("DistributedPriorityQueue",
            p -> consumed(p, p.builder().buildPriorityQueue(0)));
        RECIPES.put("DistributedDelayQueue", p -> consumed(p, p.builder().buildDelayQueue()));
        RECIPES.put("DistributedAtomicLong", Play::atomicLong);
        RECIPES.put("SharedCount", Play::sharedCount);
        RECIPES.put("PersistentNode", p -> member(p, () -> {
            PersistentNode node = new PersistentNode(
                p.curator, CreateMode.EPHEMERAL, false, PATH + "/" + p.name, new byte[0]);
            node.start();
            if (!node.waitForInitialCreate(10, TimeUnit.SECONDS)) {
                node.close();
                throw new IllegalStateException("not created within ten seconds");
            }
            return node;
        }));
        RECIPES.put("GroupMember", p -> member(p, () -> {
            GroupMember member = new GroupMember(p.curator, PATH, p.name);
            member.start();
            return member::close;
        }));
        RECIPES.put("recipes.lock.WriteLock", Play::writeLock);
        RECIPES.put("recipes.queue.DistributedQueue", Play::apacheQueue);
        RECIPES.put("recipes.leader.LeaderElectionSupport", Play::electionSupport);
    }

    // Curator.

    static void hold(Player p, InterProcessLock lock) throws Exception {
        for (int i = 0; i < p.rounds; i++) {
            p.persist("lock", "", lock::acquire);
            Thread.sleep(HOLD);
            p.attempt("unlock", lock::release);
        }
    }

    static void semaphore(Player p) throws Exception {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(p.curator, PATH, 1);
        Lease[] lease = new Lease[1];
        for (int i = 0; i < p.rounds; i++) {
            p.persist("lock", "", () -> lease[0] = semaphore.acquire());
            Thread.sleep(HOLD);
            p.attempt("unlock", () -> semaphore.returnLease(lease[0]));
        }
    }

    static void latch(Player p) throws Exception {
        for (int i = 0; i < p.rounds; i++) {
            LeaderLatch[] latch = new LeaderLatch[1];
            p.persist("lock", "", () -> {
                if (latch[0] != null) {
                    latch[0].close();
                }
                latch[0] = new LeaderLatch(p.curator, PATH, p.name);
                latch[0].addListener(new LeaderLatchListener() {
                    @Override
                    public void isLeader() { }

                    @Override
                    public void notLeader() {
                        tell("told", p.name, now(), "lost");
                    }
                });
                latch[0].start();
                latch[0].await();
            });
            Thread.sleep(HOLD);
            p.attempt("unlock", latch[0]::close);
        }
    }

    static void selector(Player p) throws Exception {
        CountDownLatch led = new CountDownLatch(p.rounds);
        LeaderSelector selector = new LeaderSelector(
            p.curator, PATH, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework client) {
                if (led.getCount() == 0) {
                    return;
                }
                p.ok("");
                try {
                    Thread.sleep(HOLD);
                } catch (InterruptedException e) {
                    tell("told", p.name, now(), "lost");
                }
                p.call("unlock", "");
                p.ok("");
                if (led.getCount() > 1) {
                    p.call("lock", "");
                }
                led.countDown();
            }
        });
        p.open.add(selector);
        selector.autoRequeue();
        p.call("lock", "");
        selector.start();
        led.await();
        selector.close();
    }

    static void barrier(Player p) throws Exception {
        DistributedBarrier barrier = new DistributedBarrier(p.curator, PATH);
        for (int i = 0; i < p.rounds; i++) {
            CountDownLatch up = p.shared.latch("up" + i);
            CountDownLatch down = p.shared.latch("down" + i);
            if (p.first) {
                p.persist("set", "", barrier::setBarrier);
                up.countDown();
                Thread.sleep(2 * HOLD);
                p.persist("remove", "", barrier::removeBarrier);
                down.await();
            } else {
                up.await();
                p.persist("wait", "", barrier::waitOnBarrier);
                down.countDown();
            }
        }
    }

    static void doubleBarrier(Player p) throws Exception {
        for (int i = 0; i < p.rounds; i++) {
            DistributedDoubleBarrier[] barrier = new DistributedDoubleBarrier[1];
            p.persist("enter", "2", () -> {
                // a barrier that has failed lets nobody enter any more
                barrier[0] = new DistributedDoubleBarrier(p.curator, PATH, 2);
                barrier[0].enter();
            });
            Thread.sleep(HOLD);
            p.attempt("leave", barrier[0]::leave);
        }
    }

    interface Offer {
        void offer(String element) throws Exception;
    }

    /** Client a offers; b takes what is there, afterwards. */
    static void queue(Player p, Offer offer, Callable<byte[]> poll) throws Exception {
        if (p.first) {
            for (int i = 0; i < 2 * p.rounds; i++) {
                String element = "a" + i;
                p.once("offer", element, () -> offer.offer(element));
            }
            p.shared.latch("offered").countDown();
            return;
        }
        p.shared.latch("offered").await();
        for (boolean empty = false; !empty;) {
            p.call("take", "");
            try {
                byte[] got = poll.call();
                if (got == null) {
                    tell("empty", p.name, now());
                    empty = true;
                } else {
                    p.ok(new String(got));
                }
            } catch (Exception e) {
                p.unknown(e);
            }
        }
    }

    /** Client a puts; b consumes from the beginning, until nothing has come for a while. */
    static void consumed(Player p, QueueBase<String> queue) throws Exception {
        if (p.first) {
            queue.start();
            p.shared.latch("begun").await();
            for (int i = 0; i < 2 * p.rounds; i++) {
                String element = "a" + i;
                p.once("offer", element, () -> {
                    put(queue, element);
                    if (!queue.flushPuts(20, TimeUnit.SECONDS)) {
                        throw new IllegalStateException("not flushed within twenty seconds");
                    }
                });
            }
            p.shared.latch("offered").countDown();
        } else {
            queue.start();
            p.shared.latch("begun").countDown();
            p.shared.latch("offered").await();
            int quiet = QUIET;
            while (p.got.tryAcquire(quiet, TimeUnit.MILLISECONDS)) {
                if (++p.taken >= 2 * p.rounds) {
                    quiet = 50; // whatever comes now comes again
                }
            }
        }
        queue.close();
    }

    static void put(QueueBase<String> queue, String element) throws Exception {
        if (queue instanceof DistributedQueue) {
            ((DistributedQueue<String>) queue).put(element);
        } else if (queue instanceof DistributedIdQueue) {
            ((DistributedIdQueue<String>) queue).put(element, element);
        } else if (queue instanceof DistributedPriorityQueue) {
            int priority = Integer.parseInt(element.substring(1));
            ((DistributedPriorityQueue<String>) queue).put(element, priority);
        } else {
            ((DistributedDelayQueue<String>) queue).put(element, System.currentTimeMillis());
        }
    }

    static void atomicLong(Player p) throws Exception {
        DistributedAtomicLong counter = new DistributedAtomicLong(
            p.curator, PATH, new RetryNTimes(50, 10));
        for (int i = 0; i < p.rounds; i++) {
            long delta = delta(p, i);
            p.call("add", Long.toString(delta));
            try {
                AtomicValue<Long> value = counter.add(delta);
                if (value.succeeded()) {
                    p.ok(value.postValue().toString());
                } else {
                    tell("failed", p.name, now(), "it did not succeed");
                }
            } catch (Exception e) {
                p.unknown(e);
            }
        }
    }

    /** The digits of the sum tell how often each was added. */
    static long delta(Player p, int round) {
        return (long) Math.pow(10, 2 * round + (p.first ? 0 : 1));
    }

    static void sharedCount(Player p) throws Exception {
        SharedCount count = new SharedCount(p.curator, PATH, 0);
        while (true) {
            try {
                count.start();
                break;
            } catch (Exception e) {
                Thread.sleep(PAUSE);
                count = new SharedCount(p.curator, PATH, 0);
            }
        }
        SharedCount own = count;
        p.open.add(own);
        for (int i = 0; i < p.rounds; i++) {
            int delta = (int) delta(p, i);
            p.once("add", Integer.toString(delta), () -> {
                VersionedValue<Integer> seen = own.getVersionedValue();
                while (!own.trySetCount(seen, seen.getValue() + delta)) {
                    Thread.sleep(5);
                    seen = own.getVersionedValue();
                }
            });
        }
    }

    /** Client a joins; b joins and leaves. */
    static void member(Player p, Callable<AutoCloseable> join) throws Exception {
        AutoCloseable[] joined = new AutoCloseable[1];
        for (int i = 0; i < p.rounds; i++) {
            p.persist("join", "", () -> joined[0] = join.call());
            if (p.first) {
                p.open.add(joined[0]);
                return;
            }
            Thread.sleep(4 * HOLD);
            p.persist("leave", "", () -> joined[0].close());
        }
    }

    // Apache's recipes.

    static void writeLock(Player p) throws Exception {
        WriteLock[] lock = new WriteLock[1];
        Semaphore acquired = new Semaphore(0);
        for (int i = 0; i < p.rounds; i++) {
            acquired.drainPermits();
            p.persist("lock", "", () -> {
                if (p.renew() || lock[0] == null) {
                    lock[0] = new WriteLock(p.zk, PATH, ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        new LockListener() {
                        @Override
                        public void lockAcquired() {
                            acquired.release();
                        }

                        @Override
                        public void lockReleased() { }
                    });
                }
                if (!lock[0].lock()) {
                    while (!acquired.tryAcquire(100, TimeUnit.MILLISECONDS)) {
                        if (!p.zk.getState().isAlive()) {
                            throw new IllegalStateException("the session has ended");
                        }
                    }
                }
            });
            Thread.sleep(HOLD);
            p.attempt("unlock", lock[0]::unlock);
        }
    }

    static void apacheQueue(Player p) throws Exception {
        queue(p, element -> queueOf(p).offer(element.getBytes()), () -> {
            try {
                return queueOf(p).remove();
            } catch (NoSuchElementException e) {
                return null;
            }
        });
    }

    static org.apache.zookeeper.recipes.queue.DistributedQueue queueOf(Player p) throws Exception {
        p.renew();
        return new org.apache.zookeeper.recipes.queue.DistributedQueue(
            p.zk, PATH, ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    static void electionSupport(Player p) throws Exception {
        for (int i = 0; i < p.rounds; i++) {
            LeaderElectionSupport[] election = new LeaderElectionSupport[1];
            p.persist("lock", "", () -> {
                p.renew();
                ensureDirectory(p); // it wants that to be there
                election[0] = elect(p);
            });
            Thread.sleep(HOLD);
            p.attempt("unlock", election[0]::stop);
        }
    }

    static void ensureDirectory(Player p) throws Exception {
        try {
            p.zk.create(PATH, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            return; // somebody made it
        }
    }

    /** Stands for election until it is elected; a failure is an exception. */
    static LeaderElectionSupport elect(Player p) throws Exception {
        Semaphore elected = new Semaphore(0);
        Semaphore failed = new Semaphore(0);
        LeaderElectionSupport election = new LeaderElectionSupport();
        election.setZooKeeper(p.zk);
        election.setRootNodeName(PATH);
        election.setHostName(p.name);
        election.addListener(event -> {
            if (event == LeaderElectionSupport.EventType.ELECTED_COMPLETE) {
                elected.release();
            } else if (event == LeaderElectionSupport.EventType.FAILED) {
                failed.release();
            }
        });
        election.start();
        while (!elected.tryAcquire(20, TimeUnit.MILLISECONDS)) {
            if (failed.tryAcquire() || !p.zk.getState().isAlive()) {
                election.stop();
                throw new IllegalStateException("it has failed");
            }
        }
        return election;
    }
}

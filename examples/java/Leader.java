import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * A lock and a leader under faults: Curator over zksim serve.
 *
 * <pre>
 * zksim serve --addr 127.0.0.1:2181 --control 127.0.0.1:8080
 * java -cp 'JARS' Leader.java 127.0.0.1:2181 127.0.0.1:8080
 * </pre>
 *
 * The control endpoint loses the reply of the create of Curator's mutex; its
 * protected mode finds the node again. Then the leader's session expires, and the
 * other candidate takes over.
 */
public class Leader {
    private static final String LOCK = "/example/java/lock";
    private static final String LATCH = "/example/java/leader";

    private final String server;
    private final String control;

    Leader(String server, String control) {
        this.server = server;
        this.control = control;
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("usage: Leader ZOOKEEPER CONTROL, each as HOST:PORT");
            System.exit(2);
        }
        Leader example = new Leader(args[0], args[1]);
        try (CuratorFramework first = example.connect(); CuratorFramework second = example.connect()) {
            example.surviveLostReply(first);
            example.handOver(first, second);
        }
        System.exit(0); // the HTTP client keeps a thread for a while
    }

    private CuratorFramework connect() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(server, 10_000, 10_000, new ExponentialBackoffRetry(50, 8));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private void surviveLostReply(CuratorFramework client) throws Exception {
        client.createContainers(LOCK);
        ask("/faults", "drop-reply path=" + LOCK + "/* request=1");
        InterProcessMutex mutex = new InterProcessMutex(client, LOCK);
        check(mutex.acquire(20, TimeUnit.SECONDS), "the mutex was not acquired");
        int nodes = client.getChildren().forPath(LOCK).size();
        check(nodes == 1, "the mutex has " + nodes + " nodes");
        mutex.release();
        System.out.println("the reply of the create was lost; the mutex was held with one node");
    }

    private void handOver(CuratorFramework first, CuratorFramework second) throws Exception {
        try (LeaderLatch a = new LeaderLatch(first, LATCH, "a"); LeaderLatch b = new LeaderLatch(second, LATCH, "b")) {
            a.start();
            a.await();
            b.start();
            long session = first.getZookeeperClient().getZooKeeper().getSessionId();
            ask("/expire", "{\"session\":\"0x" + Long.toHexString(session) + "\"}");
            check(b.await(20, TimeUnit.SECONDS), "nobody leads");
        }
        System.out.println("the leader's session expired; the other took over");
    }

    /** Posts to the control endpoint of zksim serve. */
    private void ask(String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + control + path))
            .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> reply = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        check(reply.statusCode() == 200, path + ": " + reply.body());
    }

    private static void check(boolean ok, String message) {
        if (!ok) {
            throw new IllegalStateException(message);
        }
    }
}

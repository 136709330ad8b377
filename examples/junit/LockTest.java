import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests of Curator's recipes with ZksimExtension. */
class LockTest {
    @RegisterExtension
    ZksimExtension zookeeper = new ZksimExtension();

    @Test
    void mutexSurvivesALostReply() throws Exception {
        CuratorFramework client = zookeeper.client();
        client.createContainers("/lock");
        String fault = zookeeper.inject("drop-reply path=/lock/* request=1");
        InterProcessMutex mutex = new InterProcessMutex(client, "/lock");
        assertTrue(mutex.acquire(20, TimeUnit.SECONDS));
        zookeeper.awaitFault(fault);
        assertEquals(1, client.getChildren().forPath("/lock").size());
        mutex.release();
    }

    @Test
    void anotherLeadsWhenTheLeaderExpires() throws Exception {
        CuratorFramework first = zookeeper.client();
        CuratorFramework second = zookeeper.client();
        try (LeaderLatch a = new LeaderLatch(first, "/leader", "a"); LeaderLatch b = new LeaderLatch(second, "/leader", "b")) {
            a.start();
            a.await();
            b.start();
            zookeeper.expire(first);
            assertTrue(b.await(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void anotherTestSeesNothingOfIt() throws Exception {
        assertNull(zookeeper.client().checkExists().forPath("/lock"));
        assertNull(zookeeper.client().checkExists().forPath("/leader"));
    }
}

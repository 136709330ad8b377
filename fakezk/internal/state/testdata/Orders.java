import java.util.*;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Prints orders.txt: what Java's tables do with keys that are added and removed.
 *
 *   new set|paths|concurrent   an empty table: of children, of paths, concurrent
 *   + KEY                      add
 *   - KEY                      remove
 *   = KEY KEY ...              the order now
 *   clone KEY KEY ...          the order of a clone
 *   copy KEY KEY ...           the order of a HashSet made from the concurrent set
 *
 * Run: java Orders.java > orders.txt
 */
public class Orders {
    static final Random random = new Random(3);
    static Set<String> set;

    static void start(String kind) {
        System.out.println("new " + kind);
        switch (kind) {
            case "set": set = new HashSet<>(8); break;
            case "paths": set = new HashSet<>(); break;
            default: set = Collections.newSetFromMap(new ConcurrentHashMap<>());
        }
    }

    static void add(String key) {
        System.out.println("+ " + key);
        set.add(key);
    }

    static void remove(String key) {
        System.out.println("- " + key);
        set.remove(key);
    }

    @SuppressWarnings("unchecked")
    static void show() {
        System.out.println("= " + String.join(" ", set));
        if (set instanceof HashSet) {
            Object clone = ((HashSet<?>) set).clone();
            System.out.println("clone " + String.join(" ", (Iterable<String>) clone));
        } else {
            System.out.println("copy " + String.join(" ", new HashSet<String>(set)));
        }
    }

    /** The i-th of names with the same hash code, of pairs of Aa and BB. */
    static String same(int i, int pairs) {
        StringBuilder b = new StringBuilder();
        for (int bit = 0; bit < pairs; bit++) {
            b.append((i >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return b.toString();
    }

    static String name(int i) {
        switch (random.nextInt(6)) {
            case 0: return String.format("n-%010d", i);
            case 1: return "/app/lock/" + Long.toHexString(random.nextLong());
            case 2: return same(random.nextInt(4), 2) + random.nextInt(3);
            case 3: return "\u6f22\u5b57" + i + "\u00e9";
            case 4: return "\ud83d\ude00" + i;
            default: return Integer.toString(random.nextInt(1000));
        }
    }

    /** Grows to a size and shrinks again, over and over. */
    static void tides(String kind, int[] sizes) {
        start(kind);
        List<String> keys = new ArrayList<>();
        for (int size : sizes) {
            while (set.size() < size) {
                String key = name(keys.size());
                if (!set.contains(key)) {
                    add(key);
                    keys.add(key);
                }
            }
            while (set.size() > size) {
                String key = keys.remove(random.nextInt(keys.size()));
                remove(key);
            }
            show();
        }
    }

    /** Nine keys in one bucket, which make a small table grow. */
    static void collisions(String kind) {
        start(kind);
        for (int i = 0; i < 5; i++) {
            add(Character.toString((char) ('0' + 17 * i)));
        }
        for (int i = 0; i < 9; i++) {
            add(same(i, 4));
            show();
        }
        for (int i = 0; i < 6; i += 2) {
            remove(same(i, 4));
        }
        for (int i = 0; i < 120; i++) {
            add("y" + i);
        }
        show();
    }

    public static void main(String[] args) {
        int[] sizes = {1, 6, 7, 3, 12, 13, 0, 5, 24, 25, 48, 49, 20, 2, 60, 96, 97, 190, 200, 30, 1};
        for (String kind : new String[] {"set", "paths", "concurrent"}) {
            tides(kind, sizes);
            tides(kind, new int[] {3, 11, 12, 10, 13, 23, 24, 26, 47, 5, 8, 50, 0, 1});
        }
        collisions("set");
        collisions("paths");
        start("concurrent");
        for (int i = 0; i < 8; i++) {
            add(same(i, 3));
        }
        show();
        add("\u0100" + "x");
        for (int i = 0; i < 40; i++) {
            add("y" + i);
        }
        show();
        start("concurrent");
        for (int i = 0; i < 4; i++) {
            add("x" + i);
        }
        // The ninth in one bucket of 16, of 32 and of 64: the table grows to 128.
        for (int i = 0; i < 9; i++) {
            add(Character.toString((char) (128 * (i + 32) + 5)));
        }
        show();
    }
}

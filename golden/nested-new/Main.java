public class Main {
    static final class Node {
        final int size;

        Node(Node left, Node right, int weight) {
            size = weight + (left == null ? 0 : left.size) + (right == null ? 0 : right.size);
        }
    }

    static int pick(int n) {
        return n > 2 ? n : -n;
    }

    static Node build() {
        return new Node(
            new Node(null, new Node(null, null, pick(1) > 0 ? 1 : pick(5)), pick(2) < 0 ? pick(3) : 4),
            new Node(null, null, pick(4) > pick(5) ? 6 : pick(7)),
            pick(8) == 8 ? 8 : 9);
    }

    public static void main(String[] args) {
        System.out.println(build().size);
    }
}

import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.agent.ByteBuddyAgent;
import org.mockito.Mockito;

/** Mocks final classes, for which an agent is installed while the program runs, and retransforms classes that were rewritten. */
public class Agents {
    public static final class Closed {
        public String name() {
            return "real";
        }

        public int twice(int n) {
            return 2 * n;
        }
    }

    public static void main(String[] args) throws Exception {
        Closed closed = new Closed();
        System.out.println(closed.name() + " " + closed.twice(4));
        Closed mock = Mockito.mock(Closed.class);
        Mockito.when(mock.name()).thenReturn("mocked");
        System.out.println(mock.name() + " " + mock.twice(4) + " " + closed.name() + " " + closed.twice(5));
        List<String> list = Mockito.spy(new ArrayList<String>());
        list.add("one");
        Mockito.verify(list).add("one");
        ByteBuddyAgent.getInstrumentation().retransformClasses(Closed.class, Agents.class);
        System.out.println(list + " " + closed.twice(6));
    }
}

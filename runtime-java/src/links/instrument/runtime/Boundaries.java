package instrument.runtime;

import java.util.HashMap;
import java.util.Map;

/**
 * Parts of a program that have a name of their own in the profile, such as a test: what a thread does between {@link #enter} and {@link #leave}
 * has a link frame, of a link that nobody made, whose name is a property of the file. {@code instrument.api} calls this by reflection, so that
 * programs need no class of the runtime.
 */
public final class Boundaries {
    /** Names of one recording; what has another name is not told apart. */
    private static final int MOST = 1 << 14;
    /** The links of this recording by name. Guarded by itself. */
    private static final Map<String, Integer> LINKS = new HashMap<String, Integer>();

    private Boundaries() {}

    /** The current thread enters a part; the number to leave it with, or 0: nothing tells it apart, as where only counts are recorded. */
    public static int enter(String name) {
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state == null || Recording.settings.record == Settings.COUNTS || Recording.settings.record == Settings.OFF) {
                return 0;
            }
            if (state.mode == ThreadState.NEW && !state.isPaused()) {
                state.arrive();
            }
            int mode = state.mode;
            if (mode != state.live && !state.isBetween()) {
                return 0;
            }
            int link;
            state.mode = ThreadState.BUSY;
            try {
                link = link(name);
            } finally {
                if (state.mode == ThreadState.BUSY) {
                    state.mode = mode;
                }
            }
            StackReserve.frame();
            return link != 0 && LinkFrames.enter(state, link) ? link : 0;
        } catch (StackOverflowError e) {
            return 0;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return 0;
        }
    }

    /** The current thread leaves the part that it entered last under this number. */
    public static void leave(int link) {
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            if (link != 0 && state != null) {
                LinkFrames.leave(state, link);
            }
        } catch (StackOverflowError e) {
            // The part stays open until an outer frame closes it as unclosed.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** Where the profile of this process is; null: nothing is recorded. */
    public static String profile() {
        ProfileFile file = Recording.file;
        return file == null ? null : file.path();
    }

    /** Another recording begins. */
    static void renew() {
        synchronized (LINKS) {
            LINKS.clear();
        }
    }

    /** The number of the link with a name; 0: there is no room. */
    private static int link(String name) {
        synchronized (LINKS) {
            Integer known = LINKS.get(name);
            if (known == null && LINKS.size() < MOST) {
                known = Links.unmade(Links.BOUNDARY);
                if (known != 0) {
                    LINKS.put(name, known);
                    StringBuilder text = new StringBuilder();
                    ProfileFile.line(text, "boundary." + known, name);
                    Recording.file.write(Format.PROPERTIES, text.toString());
                }
            }
            return known == null ? 0 : known;
        }
    }
}

package failing;

import java.util.ArrayList;

/** What is recorded: constructors that fail in every place, and methods that handle it or not. Each says first of all that it was entered, so that {@link Failing} knows all contexts. */
class Parts {
    private Parts() {}

    /** Its this() fails in recorded code. */
    static class Base {
        Base(int level) {
            this(Failing.in("failing.Parts$Base.<init>(I)V"), level);
            Failing.out("failing.Parts$Base.<init>(I)V");
        }

        Base(Object in, int level) {
            Failing.in("failing.Parts$Base.<init>(Ljava/lang/Object;I)V");
            Failing.act(level);
            Failing.out("failing.Parts$Base.<init>(Ljava/lang/Object;I)V");
        }
    }

    /** Recorded calls while the arguments are computed: what they throw is caught there, or ends all constructors. */
    static class Derived extends Base {
        Derived(int level) {
            super(Failing.inAndAct("failing.Parts$Derived.<init>(I)V", level), level);
            Failing.act(level);
            Failing.out("failing.Parts$Derived.<init>(I)V");
        }

        Derived(int level, boolean further) {
            this(Failing.inAt("failing.Parts$Derived.<init>(IZ)V", level));
            Failing.out("failing.Parts$Derived.<init>(IZ)V");
        }
    }

    /** Its super() fails in code that is not recorded. */
    static class Listed extends ArrayList<String> {
        Listed(int size) {
            super(Failing.inAt("failing.Parts$Listed.<init>(I)V", size));
            Failing.out("failing.Parts$Listed.<init>(I)V");
        }
    }

    /** Its argument fails without a call. */
    static class Sized {
        Sized(String text) {
            this(text.length());
            Failing.out("failing.Parts$Sized.<init>(Ljava/lang/String;)V");
        }

        Sized(int size) {
            Failing.in("failing.Parts$Sized.<init>(I)V");
            Failing.out("failing.Parts$Sized.<init>(I)V");
        }
    }

    /** Its argument fails without a call before or behind one that whoever makes it calls, too. */
    static class Checked {
        Checked(String text, int level) {
            this(text.length(), level > 2 ? noted(level) : level, text.charAt(1));
            Failing.out("failing.Parts$Checked.<init>(Ljava/lang/String;I)V");
        }

        Checked(int size, int level, int character) {
            Failing.in("failing.Parts$Checked.<init>(III)V");
            Failing.out("failing.Parts$Checked.<init>(III)V");
        }
    }

    static int noted(int level) {
        Failing.in("failing.Parts.noted(I)I");
        Failing.out("failing.Parts.noted(I)I");
        return level;
    }

    static void plain(int level) {
        Failing.in("failing.Parts.plain(I)V");
        Failing.act(level);
        Failing.out("failing.Parts.plain(I)V");
    }

    static void catching(int level) {
        Failing.in("failing.Parts.catching(I)V");
        try {
            new Derived(level, true);
        } catch (Failing.Failure e) {
            Failing.caught("failing.Parts.catching(I)V");
        }
        try {
            Failing.act(level);
        } catch (Failing.Failure e) {
            Failing.caught("failing.Parts.catching(I)V");
        } finally {
            Failing.caught("failing.Parts.catching(I)V");
        }
        Failing.out("failing.Parts.catching(I)V");
    }

    static void making(int level) {
        Failing.in("failing.Parts.making(I)V");
        new Base(level);
        Failing.act(level);
        Failing.out("failing.Parts.making(I)V");
    }
}

package instrument.runtime;

import java.util.regex.Pattern;

/**
 * One pattern of methods, as {@code crates/names/src/pattern.rs} has them: {@code Shop}, {@code Shop#price}, {@code Shop.price},
 * {@code Shop.price(int, String)}, {@code Shop#price(I)V}, {@code Shop.price(..)}, {@code Shop.price(int): Item}. It is compiled to regular
 * expressions over the name of a class, the name of a method, and its parameters and result, both as the class file
 * has them and as Java does.
 */
final class MethodPattern {
    /** In front of the name of a type: the packages and classes that it lies in may be left out. */
    private static final String SOMEWHERE = "(?:[^,]*[/$])?";

    final String text;
    private final Pattern type;
    /** Null: all methods of the type. */
    private Pattern name;
    /** The type if the last part of its name is a method's: {@code Shop.price} may be a class or a method. */
    private Pattern shorterType;
    private Pattern lastPart;
    /** What is in the parentheses; both null: any parameters. */
    private Pattern descriptor;
    private Pattern types;
    /** Null: any. */
    private Pattern result;
    /** The result is compared as Java writes it. */
    private boolean javaResult;

    MethodPattern(String given) {
        text = withoutRemarks(given);
        int open = text.indexOf('(');
        String head = open < 0 ? text : text.substring(0, open);
        head = head.endsWith(":") ? head.substring(0, head.length() - 1) : head;
        int hash = head.indexOf('#');
        // A name with angle brackets or parameters is a method's.
        int dot = Math.max(head.lastIndexOf('.'), head.lastIndexOf('/'));
        int cut = hash >= 0 ? hash : open >= 0 || head.indexOf('<') >= 0 ? dot : -1;
        if (cut >= 0) {
            type = Pattern.compile(glob(head.substring(0, cut)), Pattern.DOTALL);
            name = Pattern.compile(words(head.substring(cut + 1).trim()), Pattern.DOTALL);
        } else {
            type = Pattern.compile(glob(head), Pattern.DOTALL);
            if (dot > 0 && head.charAt(dot) == '.' && isNamed(head.substring(0, dot))) {
                shorterType = Pattern.compile(glob(head.substring(0, dot)), Pattern.DOTALL);
                lastPart = Pattern.compile(words(head.substring(dot + 1)), Pattern.DOTALL);
            }
        }
        if (open >= 0) {
            parameters(text.substring(open + 1));
        }
    }

    /** Whether the last part of a type's name is more than stars. */
    private static boolean isNamed(String type) {
        String last = type.substring(Math.max(type.lastIndexOf('.'), type.lastIndexOf('/')) + 1);
        return !last.replace("*", "").isEmpty();
    }

    /** Reports print {@code [bridge]} and {@code (Shop.java:17)} behind a method. */
    private static String withoutRemarks(String text) {
        int close = text.indexOf(')');
        int flag = text.indexOf(" [", close);
        int source = text.indexOf(" (", close);
        int end = flag < 0 ? source : source < 0 ? flag : Math.min(flag, source);
        return close < 0 || end < 0 ? text : text.substring(0, end);
    }

    /** What is behind the opening parenthesis. */
    private void parameters(String text) {
        int close = text.indexOf(')');
        String inside = (close < 0 ? text : text.substring(0, close)).trim();
        String returned = close < 0 ? "" : text.substring(close + 1).trim();
        if (!inside.equals("..") && !inside.equals("...") && !inside.equals("\u2026")) {
            descriptor = Pattern.compile(words(inside.replace('.', '/')), Pattern.DOTALL);
            StringBuilder regex = new StringBuilder();
            for (String one : inside.isEmpty() ? new String[0] : inside.split(",")) {
                regex.append(regex.length() == 0 ? "" : ",").append(typeOf(one.trim()));
            }
            types = Pattern.compile(regex.toString(), Pattern.DOTALL);
        }
        if (!returned.isEmpty()) {
            javaResult = returned.charAt(0) == ':';
            String regex = javaResult ? typeOf(returned.substring(1).trim()) : words(returned.replace('.', '/'));
            result = Pattern.compile(regex, Pattern.DOTALL);
        }
    }

    /** Whether a method fits; names and descriptor as in the class file. */
    boolean matches(String inType, String method, String signature) {
        boolean fits = type.matcher(inType).matches() && (name == null || name.matcher(method).matches());
        if (!fits && (shorterType == null || !shorterType.matcher(inType).matches() || !lastPart.matcher(method).matches())) {
            return false;
        }
        int close = signature.lastIndexOf(')');
        String inside = signature.substring(1, close);
        String returned = signature.substring(close + 1);
        return (types == null || descriptor.matcher(inside).matches() || types.matcher(java(inside)).matches())
            && (result == null || result.matcher(javaResult ? java(returned) : returned).matches());
    }

    /** Of one type, with or without the packages and classes that it lies in. */
    private static String typeOf(String text) {
        String element = text.replace("...", "[]");
        int dimensions = 0;
        for (; element.endsWith("[]"); dimensions++) {
            element = element.substring(0, element.length() - 2);
        }
        StringBuilder regex = new StringBuilder(SOMEWHERE).append(glob(element));
        boolean any = element.endsWith("**") || !element.isEmpty() && element.replace("*", "").isEmpty();
        if (any && dimensions == 0) {
            return regex.append("(?:\\[\\])*").toString();
        }
        for (; dimensions > 0; dimensions--) {
            regex.append("\\[\\]");
        }
        return regex.toString();
    }

    /** Types of a descriptor as Java writes them, with a comma between: {@code int,java/lang/String[]}. */
    private static String java(String descriptor) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < descriptor.length(); i++) {
            int dimensions = 0;
            for (; descriptor.charAt(i) == '['; i++) {
                dimensions++;
            }
            out.append(out.length() == 0 ? "" : ",");
            int end = i;
            if (descriptor.charAt(i) == 'L') {
                end = descriptor.indexOf(';', i);
                out.append(descriptor, i + 1, end);
            } else {
                out.append(primitive(descriptor.charAt(i)));
            }
            i = end;
            for (; dimensions > 0; dimensions--) {
                out.append("[]");
            }
        }
        return out.toString();
    }

    private static String primitive(char letter) {
        String[] names = {"boolean", "byte", "char", "double", "float", "int", "long", "short", "void"};
        return names["ZBCDFIJSV".indexOf(letter)];
    }

    /** Of a type: {@code *} and {@code ?} stay between separators; a dot behind what may be a class is a {@code $}, too. */
    private static String glob(String glob) {
        StringBuilder regex = new StringBuilder();
        boolean start = true;
        boolean inClass = false;
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            boolean atStart = start;
            start = c == '.' || c == '/';
            if (c == '\u2026') {
                regex.append("[^,\\[]*");
            } else if (c == '*') {
                int end = i;
                while (end + 1 < glob.length() && glob.charAt(end + 1) == '*') {
                    end++;
                }
                boolean wide = end > i;
                boolean behind = end + 1 < glob.length() && (glob.charAt(end + 1) == '/' || glob.charAt(end + 1) == '.');
                if (wide && atStart && behind) {
                    regex.append("(?:[^,\\[]*/)?");
                    end++;
                    start = true;
                } else {
                    regex.append(wide ? "[^,\\[]*" : "[^/,\\[]*");
                }
                i = end;
            } else if (c == '?') {
                regex.append("[^/,]");
            } else if (start) {
                regex.append(inClass ? "[/$]" : "/");
            } else {
                regex.append(Pattern.quote(String.valueOf(c)));
            }
            inClass = atStart ? Character.isUpperCase(c) : inClass && !start;
        }
        return regex.toString();
    }

    /** Of a text without separators. */
    private static String words(String glob) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            regex.append(c == '*' || c == '\u2026' ? ".*" : c == '?' ? "." : Pattern.quote(String.valueOf(c)));
        }
        return regex.toString();
    }
}

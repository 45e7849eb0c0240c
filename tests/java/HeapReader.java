import java.io.File;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.netbeans.lib.profiler.heap.FieldValue;
import org.netbeans.lib.profiler.heap.GCRoot;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.Instance;
import org.netbeans.lib.profiler.heap.JavaClass;
import org.netbeans.lib.profiler.heap.JavaFrameGCRoot;
import org.netbeans.lib.profiler.heap.ObjectArrayInstance;
import org.netbeans.lib.profiler.heap.ObjectFieldValue;
import org.netbeans.lib.profiler.heap.PrimitiveArrayInstance;
import org.netbeans.lib.profiler.heap.ThreadObjectGCRoot;

/** Prints what the library of VisualVM understands of a heap dump: {@code HeapReader FILE [CLASS]}, the class being one whose statics are shown. */
public class HeapReader {
    private static final int DEPTH = 4;
    private static final int SHOWN = 16;

    public static void main(String[] args) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        Map<String, Integer> counts = new HashMap<>();
        for (JavaClass type : heap.getAllClasses()) {
            counts.merge(type.getName(), type.getInstancesCount(), Integer::sum);
        }
        counts.forEach((name, count) -> System.out.println("class " + name + " " + count));
        Map<String, Integer> kinds = new HashMap<>();
        for (GCRoot root : heap.getGCRoots()) {
            kinds.merge(root.getKind().replace(' ', '-'), 1, Integer::sum);
            if (root instanceof ThreadObjectGCRoot) {
                ThreadObjectGCRoot thread = (ThreadObjectGCRoot) root;
                StackTraceElement[] trace = thread.getStackTrace();
                for (int i = 0; trace != null && i < trace.length; i++) {
                    System.out.println("frame " + text(thread.getInstance().getValueOfField("name")) + " " + i + " " + trace[i]);
                }
            } else if (root instanceof JavaFrameGCRoot && ((JavaFrameGCRoot) root).getThreadGCRoot() != null) {
                JavaFrameGCRoot frame = (JavaFrameGCRoot) root;
                Object name = frame.getThreadGCRoot().getInstance().getValueOfField("name");
                System.out.println("local " + text(name) + " " + frame.getFrameNumber() + " " + shown(root.getInstance()));
            }
        }
        kinds.forEach((kind, count) -> System.out.println("root " + kind + " " + count));
        if (args.length > 1) {
            JavaClass type = heap.getJavaClassByName(args[1]);
            for (FieldValue field : (List<FieldValue>) type.getStaticFieldValues()) {
                String name = field.getField().getName();
                show(name, field, name.startsWith("<") ? DEPTH : 0);
            }
            Set<Long> loaders = new HashSet<>();
            for (JavaClass other : (java.util.Collection<JavaClass>) heap.getJavaClassesByRegExp(args[1].replace("$", "\\$") + ".*")) {
                JavaClass parent = other.getSuperClass();
                System.out.println("super " + other.getName() + " " + (parent == null ? "none" : parent.getName()));
                loaders.add(other.getClassLoader() == null ? 0 : other.getClassLoader().getInstanceId());
                if (other != type) {
                    for (FieldValue field : (List<FieldValue>) other.getStaticFieldValues()) {
                        show(other.getName() + "." + field.getField().getName(), field, DEPTH);
                    }
                }
            }
            System.out.println("loaders " + loaders.size());
            System.out.println("path " + path(((Instance) ((Instance) type.getValueOfStaticField("cycle")).getValueOfField("next"))));
        }
    }

    /** How a root leads to an object. */
    private static String path(Instance instance) {
        StringBuilder path = new StringBuilder(shown(instance));
        Instance at = instance;
        while (!at.isGCRoot()) {
            at = at.getNearestGCRootPointer();
            if (at == null) {
                return path + " < nothing";
            }
            path.append(" < ").append(at.getJavaClass().getName());
        }
        return path + " is a root";
    }

    private static void show(String path, FieldValue value, int depth) {
        if (value instanceof ObjectFieldValue) {
            show(path, ((ObjectFieldValue) value).getInstance(), depth);
        } else {
            System.out.println("value " + path + "=" + value.getValue());
        }
    }

    private static void show(String path, Instance instance, int depth) {
        System.out.println("value " + path + "=" + shown(instance));
        if (instance == null || depth == DEPTH || text(instance) != null) {
            return;
        }
        if (instance instanceof ObjectArrayInstance) {
            List<Instance> values = (List<Instance>) ((ObjectArrayInstance) instance).getValues();
            for (int i = 0; i < values.size() && i < SHOWN; i++) {
                show(path + "[" + i + "]", values.get(i), depth + 1);
            }
        } else if (!(instance instanceof PrimitiveArrayInstance)) {
            for (FieldValue field : (List<FieldValue>) instance.getFieldValues()) {
                String type = field.getField().getDeclaringClass().getName();
                String name = field.getField().getName();
                show(path + "." + type.substring(type.lastIndexOf('$') + 1) + "#" + name, field, depth + 1);
            }
        }
    }

    private static String shown(Instance instance) {
        if (instance == null) {
            return "null";
        }
        String type = instance.getJavaClass().getName();
        String text = text(instance);
        if (text != null) {
            return "\"" + text + "\"";
        }
        if (instance instanceof PrimitiveArrayInstance) {
            List<Object> values = (List<Object>) ((PrimitiveArrayInstance) instance).getValues();
            String last = values.size() > SHOWN ? ".." + values.get(values.size() - 1) : "";
            return type + values.size() + values.subList(0, Math.min(SHOWN, values.size())) + last;
        }
        if (instance instanceof ObjectArrayInstance) {
            List<Instance> values = (List<Instance>) ((ObjectArrayInstance) instance).getValues();
            int there = 0;
            for (Instance value : values) {
                there += value == null ? 0 : 1;
            }
            return type + values.size() + " " + there + " not null";
        }
        return type;
    }

    /** The text of a String, else null. */
    private static String text(Object object) {
        if (!(object instanceof Instance) || !((Instance) object).getJavaClass().getName().equals("java.lang.String")) {
            return null;
        }
        Instance string = (Instance) object;
        PrimitiveArrayInstance value = (PrimitiveArrayInstance) string.getValueOfField("value");
        boolean latin = ((Byte) string.getValueOfField("coder")) == 0;
        List<Object> bytes = (List<Object>) value.getValues();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bytes.size(); i += latin ? 1 : 2) {
            int low = Integer.parseInt(bytes.get(i).toString()) & 0xff;
            int high = latin ? 0 : Integer.parseInt(bytes.get(i + 1).toString()) & 0xff;
            text.append((char) (high << 8 | low));
        }
        return text.toString();
    }
}

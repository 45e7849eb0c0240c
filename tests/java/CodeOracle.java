import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LocalVariableAnnotationNode;
import org.objectweb.asm.tree.LocalVariableNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeAnnotationNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Compares the code of a method before and after rewriting.
 *
 * <ol>
 *   <li>Find the injected instructions by the hooks they call; an injected call belongs to a {@link Kind}.
 *   <li>Align: what is left has the old opcodes in the old order. A goto over {@code exceptionCaught}, and the goto of a branch
 *       that was inverted to reach further, are injected too.
 *   <li>A label's index is the number of kept instructions before it. With that, operands, frames, tables and annotations have
 *       to say the same before and after.
 *   <li>Where injected code stands next to a jump target, the jump has to land on the right side of it.
 *   <li>The hooks themselves: one id, entry first, an exit before every reachable return, every handler announced, and the
 *       catch-any ranges cover exactly what they should.
 * </ol>
 */
final class CodeOracle {
    private static final String RUNTIME = "instrument/runtime/ProfilerRuntime";
    private static final String HEAP = "instrument/runtime/HeapProxy";

    private enum Kind { KEPT, ENTRY, EXIT, UNWIND, SUPER, CAUGHT, CALL, CALLED, ALLOCATION, GOTO, PAD, WIDENED }

    private static final class Fault extends RuntimeException {
        Fault(String message) {
            super(message, null, false, false);
        }
    }

    private final String owner;
    private final MethodNode old;
    private final MethodNode now;
    private final boolean frames;
    private final List<AbstractInsnNode> oldCode;
    private final List<AbstractInsnNode> code;
    private final Kind[] kinds;
    private final List<AbstractInsnNode> kept = new ArrayList<>();
    /** For a branch that was inverted: the goto that now carries its target. */
    private final Map<AbstractInsnNode, JumpInsnNode> widened = new HashMap<>();
    private final Map<LabelNode, Integer> oldIndex = new HashMap<>();
    private final Map<LabelNode, Integer> index = new HashMap<>();
    /** Number of all instructions before a label of the new code. */
    private final Map<LabelNode, Integer> position = new HashMap<>();
    private final List<Integer> caught = new ArrayList<>();
    private int unwind = -1;
    /** Allocation hooks that take the reference from the stack instead of a copy of it. */
    private int takesOnly;

    /** Returns the first fault found, or null. */
    static String compare(String owner, MethodNode old, MethodNode now, int version) {
        try {
            new CodeOracle(owner, old, now, version >= Opcodes.V1_6).run();
            return null;
        } catch (Fault fault) {
            return fault.getMessage();
        }
    }

    private CodeOracle(String owner, MethodNode old, MethodNode now, boolean frames) {
        this.owner = owner;
        this.old = old;
        this.now = now;
        this.frames = frames;
        oldCode = real(old);
        code = real(now);
        kinds = new Kind[code.size()];
    }

    private static void check(boolean condition, String fault) {
        if (!condition) {
            throw new Fault(fault);
        }
    }

    private static List<AbstractInsnNode> real(MethodNode method) {
        List<AbstractInsnNode> real = new ArrayList<>();
        for (AbstractInsnNode node : method.instructions) {
            if (node.getOpcode() >= 0) {
                real.add(node);
            }
        }
        return real;
    }

    private void run() {
        index(old, oldIndex, null);
        findHooks();
        align();
        indexNew();
        check(old.maxLocals == now.maxLocals, "max_locals differs");
        check(now.maxStack >= old.maxStack && now.maxStack <= old.maxStack + 4, "max_stack is " + now.maxStack + ", was " + old.maxStack);
        for (int i = 0; i < kept.size(); i++) {
            String a = text(oldCode.get(i), oldIndex, Map.of());
            String b = text(kept.get(i), index, widened);
            check(a.equals(b), "instruction " + i + " was " + a + ", is " + b);
        }
        jumpTargets();
        same("LineNumberTable", lines(old, oldIndex), lines(now, index));
        same("LocalVariableTable", variables(old, oldIndex), variables(now, index));
        tablesStartAtZero();
        if (frames) {
            frames();
        }
        exceptionTable();
        hooks();
    }

    private static void index(MethodNode method, Map<LabelNode, Integer> index, BitSet counted) {
        int at = 0;
        int count = 0;
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof LabelNode) {
                index.put((LabelNode) node, count);
            } else if (node.getOpcode() >= 0) {
                count += counted == null || counted.get(at) ? 1 : 0;
                at++;
            }
        }
    }

    private void findHooks() {
        Arrays.fill(kinds, Kind.KEPT);
        for (int i = 1; i < code.size(); i++) {
            if (code.get(i).getOpcode() != Opcodes.INVOKESTATIC) {
                continue;
            }
            MethodInsnNode call = (MethodInsnNode) code.get(i);
            if (call.owner.equals(HEAP)) {
                int before = code.get(i - 1).getOpcode();
                check(call.desc.equals("(Ljava/lang/Object;)V"), "bad allocation hook");
                kinds[i] = Kind.ALLOCATION;
                if (before == Opcodes.DUP || before == Opcodes.ALOAD) {
                    kinds[i - 1] = Kind.ALLOCATION;
                } else {
                    // The program throws the new object away: the hook takes the only reference, a dup behind `new` made one more.
                    int maker = kinds[i - 1] == Kind.CALLED ? code.get(i - 3).getOpcode() : before;
                    check(maker == Opcodes.INVOKESPECIAL, "bad allocation hook");
                    takesOnly++;
                }
            } else if (call.owner.equals(RUNTIME)) {
                check(call.desc.equals("(I)V") && constant(code.get(i - 1)) != null, "bad hook " + call.name + call.desc);
                kinds[i - 1] = kinds[i] = kind(call.name);
                if (kinds[i] == Kind.UNWIND) {
                    check(unwind < 0, "two unwind handlers");
                    check(i == code.size() - 2 && code.get(i + 1).getOpcode() == Opcodes.ATHROW, "unwind handler is not the end of the code");
                    kinds[i + 1] = Kind.UNWIND;
                    unwind = i - 1;
                }
            }
        }
    }

    private static Kind kind(String hook) {
        switch (hook) {
            case "methodEntry": case "constructorEntry": return Kind.ENTRY;
            case "methodExit": return Kind.EXIT;
            case "methodUnwind": return Kind.UNWIND;
            case "superReturned": return Kind.SUPER;
            case "exceptionCaught": return Kind.CAUGHT;
            case "libraryEnter": return Kind.CALL;
            case "libraryExit": return Kind.CALLED;
            default: throw new Fault("unknown hook " + hook);
        }
    }

    private static Integer constant(AbstractInsnNode node) {
        if (node.getOpcode() >= Opcodes.ICONST_M1 && node.getOpcode() <= Opcodes.ICONST_5) {
            return node.getOpcode() - Opcodes.ICONST_0;
        }
        if (node.getOpcode() == Opcodes.BIPUSH || node.getOpcode() == Opcodes.SIPUSH) {
            return ((IntInsnNode) node).operand;
        }
        return node instanceof LdcInsnNode && ((LdcInsnNode) node).cst instanceof Integer ? (Integer) ((LdcInsnNode) node).cst : null;
    }

    private void align() {
        List<Integer> handlers = handlerIndexes();
        int j = 0;
        for (int i = 0; i < code.size(); i++) {
            if (kinds[i] == Kind.CAUGHT) {
                check(caught.size() < handlers.size(), "exceptionCaught without a handler");
                check(handlers.get(caught.size()) == j, "exceptionCaught is not at its handler");
                caught.add(i++);
                continue;
            }
            if (kinds[i] != Kind.KEPT) {
                continue;
            }
            if (caught.size() < handlers.size() && handlers.get(caught.size()) == j && isGoto(i)) {
                // For what exceptionCaught throws, if the handler catches any; in front of that, around all of it.
                boolean pads = catchesAny(j);
                if (pads && isCaught(i + 1)) {
                    kinds[i] = Kind.PAD;
                    continue;
                }
                if (pads ? isGoto(i + 1) && isCaught(i + 2) : isCaught(i + 1)) {
                    kinds[i] = Kind.GOTO;
                    continue;
                }
            }
            boolean afterNew = i > 0 && code.get(i - 1).getOpcode() == Opcodes.NEW && code.get(i).getOpcode() == Opcodes.DUP;
            if (afterNew && takesOnly > 0 && (j == oldCode.size() || oldCode.get(j).getOpcode() != Opcodes.DUP)) {
                kinds[i] = Kind.ALLOCATION;
                takesOnly--;
                continue;
            }
            check(j < oldCode.size(), "more instructions than before");
            int was = oldCode.get(j).getOpcode();
            int is = code.get(i).getOpcode();
            if (was != is && is == inverse(was)) {
                check(i + 1 < code.size() && code.get(i + 1).getOpcode() == Opcodes.GOTO, "branch was inverted");
                widened.put(code.get(i), (JumpInsnNode) code.get(i + 1));
                kinds[i + 1] = Kind.WIDENED;
            } else {
                check(was == is, "instruction " + j + " had opcode " + was + ", has " + is);
            }
            kept.add(code.get(i));
            j++;
        }
        check(takesOnly == 0, "a hook takes the only reference to an object");
        check(j == oldCode.size(), "fewer instructions than before");
        check(caught.isEmpty() || caught.size() == handlers.size(), "not every handler has exceptionCaught");
    }

    private boolean isGoto(int i) {
        return i < code.size() && code.get(i).getOpcode() == Opcodes.GOTO;
    }

    private boolean isCaught(int i) {
        return i < code.size() && kinds[i] == Kind.CAUGHT;
    }

    /** Whether a row of the old table leads here whatever is thrown. */
    private boolean catchesAny(int handler) {
        return old.tryCatchBlocks.stream().anyMatch(block -> block.type == null && oldIndex.get(block.handler) == handler);
    }

    private List<Integer> handlerIndexes() {
        TreeSet<Integer> handlers = new TreeSet<>();
        for (TryCatchBlockNode block : old.tryCatchBlocks) {
            handlers.add(oldIndex.get(block.handler));
        }
        return new ArrayList<>(handlers);
    }

    private static int inverse(int opcode) {
        if (opcode == Opcodes.IFNULL || opcode == Opcodes.IFNONNULL) {
            return opcode ^ 1;
        }
        return opcode >= Opcodes.IFEQ && opcode <= Opcodes.IF_ACMPNE ? ((opcode + 1) ^ 1) - 1 : -1;
    }

    private void indexNew() {
        BitSet counted = new BitSet();
        for (int i = 0; i < kinds.length; i++) {
            counted.set(i, kinds[i] == Kind.KEPT);
        }
        index(now, index, counted);
        index(now, position, null);
    }

    private static String text(AbstractInsnNode node, Map<LabelNode, Integer> index, Map<AbstractInsnNode, JumpInsnNode> widened) {
        StringBuilder text = new StringBuilder();
        int opcode = widened.containsKey(node) ? inverse(node.getOpcode()) : node.getOpcode();
        text.append(opcode).append(' ');
        if (node instanceof IntInsnNode) {
            text.append(((IntInsnNode) node).operand);
        } else if (node instanceof VarInsnNode) {
            text.append(((VarInsnNode) node).var);
        } else if (node instanceof TypeInsnNode) {
            text.append(((TypeInsnNode) node).desc);
        } else if (node instanceof FieldInsnNode) {
            FieldInsnNode field = (FieldInsnNode) node;
            text.append(field.owner).append('.').append(field.name).append(field.desc);
        } else if (node instanceof MethodInsnNode) {
            MethodInsnNode call = (MethodInsnNode) node;
            text.append(call.owner).append('.').append(call.name).append(call.desc).append(call.itf);
        } else if (node instanceof InvokeDynamicInsnNode) {
            InvokeDynamicInsnNode call = (InvokeDynamicInsnNode) node;
            text.append(call.name).append(call.desc).append(call.bsm).append(Arrays.toString(call.bsmArgs));
        } else if (node instanceof JumpInsnNode) {
            text.append(index.get(widened.getOrDefault(node, (JumpInsnNode) node).label));
        } else if (node instanceof LdcInsnNode) {
            Object constant = ((LdcInsnNode) node).cst;
            text.append(constant.getClass().getSimpleName()).append(constant);
        } else if (node instanceof IincInsnNode) {
            text.append(((IincInsnNode) node).var).append(' ').append(((IincInsnNode) node).incr);
        } else if (node instanceof TableSwitchInsnNode) {
            TableSwitchInsnNode table = (TableSwitchInsnNode) node;
            text.append(table.min).append(' ').append(table.max).append(' ').append(index.get(table.dflt));
            table.labels.forEach(label -> text.append(' ').append(index.get(label)));
        } else if (node instanceof LookupSwitchInsnNode) {
            LookupSwitchInsnNode lookup = (LookupSwitchInsnNode) node;
            text.append(lookup.keys).append(' ').append(index.get(lookup.dflt));
            lookup.labels.forEach(label -> text.append(' ').append(index.get(label)));
        } else if (node instanceof MultiANewArrayInsnNode) {
            text.append(((MultiANewArrayInsnNode) node).desc).append(((MultiANewArrayInsnNode) node).dims);
        }
        return text.append(annotations(node.visibleTypeAnnotations)).append(annotations(node.invisibleTypeAnnotations)).toString();
    }

    private static String annotations(List<? extends TypeAnnotationNode> list) {
        StringBuilder text = new StringBuilder();
        if (list != null) {
            // The middle bytes of a catch parameter's reference are its table index, which may move.
            list.forEach(a -> text.append('@').append(a.desc).append(a.typeRef >>> 24).append(a.typePath).append(a.values == null ? 0 : a.values.size()));
        }
        return text.toString();
    }

    private static void same(String table, List<String> was, List<String> is) {
        if (!was.equals(is)) {
            List<String> gone = new ArrayList<>(was);
            List<String> come = new ArrayList<>(is);
            is.forEach(gone::remove);
            was.forEach(come::remove);
            throw new Fault(table + ": gone " + gone + ", come " + come);
        }
    }

    private static List<LabelNode> targets(AbstractInsnNode node) {
        List<LabelNode> targets = new ArrayList<>();
        if (node instanceof JumpInsnNode) {
            targets.add(((JumpInsnNode) node).label);
        } else if (node instanceof TableSwitchInsnNode) {
            targets.add(((TableSwitchInsnNode) node).dflt);
            targets.addAll(((TableSwitchInsnNode) node).labels);
        } else if (node instanceof LookupSwitchInsnNode) {
            targets.add(((LookupSwitchInsnNode) node).dflt);
            targets.addAll(((LookupSwitchInsnNode) node).labels);
        }
        return targets;
    }

    /** A jump must run the exit call of the return it leads to, or the entry of the library call, and no other injected code. */
    private void jumpTargets() {
        for (int i = 0; i < code.size(); i++) {
            if (kinds[i] != Kind.KEPT && kinds[i] != Kind.GOTO && kinds[i] != Kind.PAD && kinds[i] != Kind.WIDENED) {
                continue;
            }
            if (kinds[i] == Kind.PAD) {
                LabelNode handler = ((JumpInsnNode) code.get(i)).label;
                check(isCaught(i + 1) && isCaught(i + 2) && position.get(handler) == i + 3, "a pad does not lead to its handler");
            }
            for (LabelNode label : targets(code.get(i))) {
                int at = position.get(label);
                check(at < code.size(), "jump out of the code");
                boolean start = at == 0 || kinds[at - 1] != Kind.EXIT || kinds[at] == Kind.KEPT;
                boolean call = kinds[at] == Kind.CALL && !(code.get(at) instanceof MethodInsnNode);
                check(kinds[at] == Kind.KEPT || kinds[at] == Kind.EXIT && start || call, "instruction " + i + " jumps into injected code (" + kinds[at] + ")");
                check(kinds[at] != Kind.KEPT || at == 0 || kinds[at - 1] != Kind.CALL, "jump past the entry of a library call");
                check(kinds[at] != Kind.KEPT || !isReturn(code.get(at)) || at == 0 || kinds[at - 1] != Kind.EXIT, "jump past an exit call");
            }
        }
    }

    private static boolean isReturn(AbstractInsnNode node) {
        return node.getOpcode() >= Opcodes.IRETURN && node.getOpcode() <= Opcodes.RETURN;
    }

    private static List<String> lines(MethodNode method, Map<LabelNode, Integer> index) {
        List<String> lines = new ArrayList<>();
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof LineNumberNode) {
                lines.add(index.get(((LineNumberNode) node).start) + ":" + ((LineNumberNode) node).line);
            }
        }
        Collections.sort(lines);
        return lines;
    }

    private static List<String> variables(MethodNode method, Map<LabelNode, Integer> index) {
        List<String> variables = new ArrayList<>();
        if (method.localVariables != null) {
            for (LocalVariableNode v : method.localVariables) {
                variables.add(v.index + " " + v.name + " " + v.desc + " " + v.signature + " " + index.get(v.start) + "-" + index.get(v.end));
            }
        }
        for (List<LocalVariableAnnotationNode> list : Arrays.asList(method.visibleLocalVariableAnnotations, method.invisibleLocalVariableAnnotations)) {
            if (list != null) {
                for (LocalVariableAnnotationNode a : list) {
                    StringBuilder text = new StringBuilder(annotations(List.of(a)));
                    for (int i = 0; i < a.index.size(); i++) {
                        text.append(' ').append(a.index.get(i)).append(':').append(index.get(a.start.get(i))).append('-').append(index.get(a.end.get(i)));
                    }
                    variables.add(text.toString());
                }
            }
        }
        Collections.sort(variables);
        return variables;
    }

    private void tablesStartAtZero() {
        for (AbstractInsnNode node : now.instructions) {
            if (node instanceof LineNumberNode && index.get(((LineNumberNode) node).start) == 0 && kinds[0] == Kind.ENTRY) {
                check(position.get(((LineNumberNode) node).start) == 0, "a line that started at 0 no longer does");
            }
        }
        if (now.localVariables != null && kinds[0] == Kind.ENTRY) {
            for (LocalVariableNode v : now.localVariables) {
                check(index.get(v.start) > 0 || position.get(v.start) == 0, "variable " + v.name + " started at 0 and no longer does");
            }
        }
    }

    private void frames() {
        List<String> was = new ArrayList<>();
        Map<Integer, String> byIndex = new HashMap<>();
        int count = 0;
        for (AbstractInsnNode node : old.instructions) {
            if (node instanceof FrameNode) {
                String frame = count + " " + frame((FrameNode) node, oldIndex);
                was.add(frame);
                byIndex.put(count, frame);
            }
            count += node.getOpcode() >= 0 ? 1 : 0;
        }
        List<String> is = new ArrayList<>();
        count = 0;
        int at = 0;
        boolean afterWidened = false;
        for (AbstractInsnNode node : now.instructions) {
            if (node instanceof FrameNode) {
                String frame = count + " " + frame((FrameNode) node, index);
                Kind next = kinds[at];
                if (next == Kind.CAUGHT || next == Kind.PAD) {
                    check(frame.equals(byIndex.get(count)), "the frame of " + next + " is not its handler's");
                } else if (next == Kind.UNWIND) {
                    check(((FrameNode) node).local.isEmpty() && ((FrameNode) node).stack.equals(List.of("java/lang/Throwable")), "bad frame of the unwind handler");
                } else {
                    check(next == Kind.KEPT || next == Kind.EXIT || next == Kind.CALL, "frame inside injected code (" + next + ")");
                    if (!afterWidened || frame.equals(byIndex.get(count))) {
                        is.add(frame);
                    }
                }
            }
            if (node.getOpcode() >= 0) {
                afterWidened = kinds[at] == Kind.WIDENED;
                count += kinds[at++] == Kind.KEPT ? 1 : 0;
            }
        }
        same("StackMapTable", was, is);
    }

    private static String frame(FrameNode frame, Map<LabelNode, Integer> index) {
        return types(frame.local, index) + types(frame.stack, index);
    }

    private static String types(List<Object> types, Map<LabelNode, Integer> index) {
        StringBuilder text = new StringBuilder("[");
        if (types != null) {
            for (Object type : types) {
                text.append(type instanceof LabelNode ? "new@" + index.get(type) : type).append(' ');
            }
        }
        return text.append(']').toString();
    }

    private void exceptionTable() {
        List<Row> was = new ArrayList<>();
        for (TryCatchBlockNode block : old.tryCatchBlocks) {
            new Row(block, oldIndex).addTo(was);
        }
        List<Row> is = new ArrayList<>();
        boolean last = false;
        for (TryCatchBlockNode block : now.tryCatchBlocks) {
            int handler = position.get(block.handler);
            int start = position.get(block.start);
            if (handler == unwind) {
                check(block.type == null && start < position.get(block.end), "bad unwind entry");
                last = true;
                continue;
            }
            check(!last, "an unwind entry is not last");
            boolean overCaught = kinds[start] == Kind.CAUGHT && index.get(block.start).equals(index.get(block.end));
            if (overCaught) {
                check(block.type == null && kinds[handler] == Kind.PAD && index.get(block.handler).equals(index.get(block.start)), "bad entry over exceptionCaught");
                continue;
            }
            if (!caught.isEmpty()) {
                check(kinds[handler] == Kind.CAUGHT && caught.contains(handler), "a handler is entered past exceptionCaught");
                for (int i = start; i < position.get(block.end); i++) {
                    check(i != handler, "a range covers the exceptionCaught of its own handler");
                }
            }
            new Row(block, index).addTo(is);
        }
        check(was.toString().equals(is.toString()), "exception table: was " + was + ", is " + is);
    }

    /** An entry of the exception table in indexes. */
    private static final class Row {
        private final int start;
        private int end;
        private final int handler;
        private final String rest;

        Row(TryCatchBlockNode block, Map<LabelNode, Integer> index) {
            start = index.get(block.start);
            end = index.get(block.end);
            handler = index.get(block.handler);
            rest = block.type + annotations(block.visibleTypeAnnotations) + annotations(block.invisibleTypeAnnotations);
        }

        /** A range that covers its own handler is split there, to leave out exceptionCaught; both parts count as one. */
        void addTo(List<Row> rows) {
            Row before = rows.isEmpty() ? null : rows.get(rows.size() - 1);
            boolean split = before != null && before.end == start && start == handler && before.handler == handler && before.rest.equals(rest);
            if (split) {
                before.end = end;
            } else {
                rows.add(this);
            }
        }

        @Override
        public String toString() {
            return start + "-" + end + "->" + handler + " " + rest;
        }
    }

    /** A library call is one call, between its entry and its exit, which have the same id. */
    private void libraryCalls() {
        for (int i = 1; i < code.size(); i++) {
            if (kinds[i] == Kind.CALL && code.get(i) instanceof MethodInsnNode) {
                check(i + 3 < code.size() && kinds[i + 1] == Kind.KEPT && code.get(i + 1) instanceof MethodInsnNode, "a library entry is not before a call");
                check(kinds[i + 2] == Kind.CALLED && kinds[i + 3] == Kind.CALLED, "a library call without an exit");
                check(constant(code.get(i - 1)).equals(constant(code.get(i + 2))), "a library call with two ids");
            } else if (kinds[i] == Kind.CALLED && code.get(i) instanceof MethodInsnNode) {
                check(i >= 3 && kinds[i - 3] == Kind.CALL, "a library exit without an entry");
            }
        }
    }

    private void hooks() {
        libraryCalls();
        if (kinds[0] != Kind.ENTRY) {
            for (Kind kind : kinds) {
                check(kind != Kind.EXIT && kind != Kind.UNWIND && kind != Kind.SUPER && kind != Kind.CAUGHT, "hooks without an entry");
            }
            allocationSites();
            return;
        }
        boolean constructor = old.name.equals("<init>") && !owner.equals("java/lang/Object");
        Integer id = constant(code.get(0));
        BitSet reachable = reachable();
        BitSet covered = covered();
        int index = 0;
        for (int i = 0; i < code.size(); i++) {
            boolean ofCall = kinds[i] == Kind.CALL || kinds[i] == Kind.CALLED;
            if (!ofCall && code.get(i) instanceof MethodInsnNode && ((MethodInsnNode) code.get(i)).owner.equals(RUNTIME)) {
                String name = ((MethodInsnNode) code.get(i)).name;
                check(id.equals(constant(code.get(i - 1))), name + " has another id than the entry");
                check(i == 1 || kinds[i] != Kind.ENTRY, "a second entry");
                check(i != 1 || name.equals(constructor ? "constructorEntry" : "methodEntry"), "entered by " + name);
                check(kinds[i] != Kind.EXIT || isReturn(code.get(i + 1)), "exit call without a return");
                check(kinds[i] != Kind.SUPER || constructor && code.get(kinds[i - 2] == Kind.CALLED ? i - 4 : i - 2).getOpcode() == Opcodes.INVOKESPECIAL, "superReturned is not after super()");
            }
            boolean mayNot = kinds[i] == Kind.ENTRY || kinds[i] == Kind.EXIT || kinds[i] == Kind.UNWIND || kinds[i] == Kind.SUPER;
            check(!mayNot || !covered.get(i), "the unwind range covers " + kinds[i]);
            if (kinds[i] == Kind.KEPT) {
                boolean live = reachable.get(index++);
                if (isReturn(code.get(i))) {
                    check(!live || kinds[i - 1] == Kind.EXIT, "return " + (index - 1) + " has no exit call");
                    check(!covered.get(i) || kinds[i - 1] != Kind.EXIT, "the unwind range covers a return");
                } else if (!constructor) {
                    check(!live || covered.get(i), "the unwind range leaves out instruction " + (index - 1));
                }
            } else if (kinds[i] == Kind.CAUGHT && !constructor && reachable.get(index)) {
                check(covered.get(i), "the unwind range leaves out exceptionCaught");
            }
        }
        allocationSites();
    }

    private void allocationSites() {
        AbstractInsnNode last = null;
        for (int i = 0; i < code.size(); i++) {
            boolean hooked = kinds[i] == Kind.ALLOCATION && code.get(i) instanceof MethodInsnNode;
            if (hooked && code.get(i - 1).getOpcode() != Opcodes.ALOAD) {
                String hook = ((MethodInsnNode) code.get(i)).name;
                check(hook.equals(hookAfter(last)), hook + " is not after an allocation");
            }
            last = kinds[i] == Kind.KEPT ? code.get(i) : last;
        }
    }

    /** What tells of the object that an instruction makes. */
    private static String hookAfter(AbstractInsnNode site) {
        int opcode = site == null ? -1 : site.getOpcode();
        if (opcode == Opcodes.NEWARRAY || opcode == Opcodes.ANEWARRAY) {
            return "ArrayAlloc";
        }
        if (opcode == Opcodes.MULTIANEWARRAY) {
            return "MultiArrayAlloc";
        }
        if (!(site instanceof MethodInsnNode)) {
            return "";
        }
        MethodInsnNode call = (MethodInsnNode) site;
        if (call.name.equals("clone") && call.desc.equals("()Ljava/lang/Object;")) {
            boolean special = opcode == Opcodes.INVOKESPECIAL;
            return call.owner.startsWith("[") ? "ArrayAlloc" : !call.owner.equals("java/lang/Object") ? "" : special ? "ObjectAlloc" : "CloneAlloc";
        }
        if (call.owner.equals("java/lang/reflect/Array") && call.name.equals("newInstance")) {
            return call.desc.startsWith("(Ljava/lang/Class;I)") ? "ArrayAlloc" : "MultiArrayAlloc";
        }
        return opcode == Opcodes.INVOKESPECIAL && call.name.equals("<init>") ? "ObjectAlloc" : "";
    }

    private BitSet covered() {
        BitSet covered = new BitSet();
        for (TryCatchBlockNode block : now.tryCatchBlocks) {
            if (position.get(block.handler) == unwind) {
                covered.set(position.get(block.start), position.get(block.end));
            }
        }
        return covered;
    }

    /** The instructions of the old code that control flow can reach. */
    private BitSet reachable() {
        BitSet reachable = new BitSet();
        ArrayDeque<Integer> work = new ArrayDeque<>(List.of(0));
        while (!work.isEmpty()) {
            int at = work.pop();
            if (at >= oldCode.size() || reachable.get(at)) {
                continue;
            }
            reachable.set(at);
            AbstractInsnNode node = oldCode.get(at);
            int opcode = node.getOpcode();
            targets(node).forEach(label -> work.push(oldIndex.get(label)));
            boolean ends = isReturn(node) || opcode == Opcodes.ATHROW || opcode == Opcodes.GOTO || opcode == Opcodes.RET
                    || opcode == Opcodes.TABLESWITCH || opcode == Opcodes.LOOKUPSWITCH;
            if (!ends) {
                work.push(at + 1);
            }
            for (TryCatchBlockNode block : old.tryCatchBlocks) {
                if (oldIndex.get(block.start) <= at && at < oldIndex.get(block.end)) {
                    work.push(oldIndex.get(block.handler));
                }
            }
        }
        return reachable;
    }
}

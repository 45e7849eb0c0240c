package io.github.instrument.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.TaskAction;

/** Checks snapshots of bytecode; the build fails if a class is not as blessed. {@code -Pinstrument.goldenAction} blesses, accepts or rejects. */
public class InstrumentGolden extends BinaryTask {
    private File cases = getProject().file("src/test/golden");
    private String action = property("instrument.goldenAction", "check");

    /** The folder of the cases. */
    @Internal
    public File getCases() {
        return cases;
    }

    public void setCases(File cases) {
        this.cases = cases;
    }

    /** check, bless, accept or reject. */
    @Input
    public String getAction() {
        return action;
    }

    public void setAction(String action) {
        this.action = action;
    }

    @TaskAction
    public void judge() {
        if (!cases.isDirectory()) {
            getLogger().lifecycle("nothing to check: there is no folder " + cases);
            return;
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("golden", action, cases.getPath()));
        Command.judge(getExecutable().getSingleFile(), arguments, getTemporaryDir(), getLogger(), action.equals("check"), "FAIL ");
    }
}

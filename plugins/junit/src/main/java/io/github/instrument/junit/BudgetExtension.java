package io.github.instrument.junit;

import instrument.api.Boundary;
import instrument.api.Recorder;
import java.io.File;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.AssertionFailedError;

/**
 * Makes each test a {@link Boundary} of its own in the profile, and checks its budgets when it has ended: the binary reads them from the
 * profile while the tests go on. With {@code @ExtendWith(BudgetExtension.class)} on a class, its tests have boundaries without budgets, too.
 */
public final class BudgetExtension implements InvocationInterceptor {
    @Override
    public void interceptTestMethod(Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        run(test, context);
    }

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context)
        throws Throwable {
        if (AnnotationSupport.isAnnotated(context.getRequiredTestMethod(), Gate.class)) {
            throw new ExtensionConfigurationException("@Gate on " + context.getRequiredTestMethod().getName() + ": it runs several times, and a gate "
                + "is of one run; make it a @Test, or use @MaxCalls");
        }
        run(test, context);
    }

    private static void run(Invocation<Void> test, ExtensionContext context) throws Throwable {
        if (!Recorder.isPresent()) {
            test.proceed();
            return;
        }
        String name = name(context);
        boolean isRecorded;
        try (Boundary boundary = Boundary.open(name)) {
            isRecorded = boundary.isRecorded();
            test.proceed();
        }
        AnnotatedElement of = context.getRequiredTestMethod();
        List<String> budgets = budgets(of);
        Gate gate = AnnotationSupport.findAnnotation(of, Gate.class).orElse(null);
        if (budgets.isEmpty() && gate == null) {
            return;
        }
        File profile = Recorder.profile();
        if (profile == null) {
            // It is switched off.
            return;
        }
        if (!isRecorded) {
            throw new ExtensionConfigurationException("the budgets of " + name + " cannot be checked: the profile does not have its calls apart from others; "
                + "record contexts (record=tree, the default), and do not pause the recording");
        }
        Judge judge = new Judge(profile, name);
        String failed = budgets.isEmpty() ? "" : judge.budgets(budgets);
        if (gate != null) {
            failed += judge.gate(gate.value(), context);
        }
        if (!failed.isEmpty()) {
            throw new AssertionFailedError(failed.trim());
        }
    }

    /** {@code com.acme.OrderTest#list}; of one of several calls of a test, or one with parameters, with what JUnit shows of it. */
    private static String name(ExtensionContext context) {
        Method method = context.getRequiredTestMethod();
        String name = context.getRequiredTestClass().getName() + '#' + method.getName();
        boolean isOne = context.getDisplayName().startsWith(method.getName() + "(");
        return (isOne ? name : name + ' ' + context.getDisplayName()).replaceAll("\\p{Cntrl}", " ");
    }

    /** What the annotations say, as the file of a gate says it. */
    private static List<String> budgets(AnnotatedElement test) {
        List<String> budgets = new ArrayList<>();
        for (MaxCalls max : AnnotationSupport.findRepeatableAnnotations(test, MaxCalls.class)) {
            budgets.add(budget(max.method(), max.under(), "calls", max.value()));
        }
        for (MaxAllocations max : AnnotationSupport.findRepeatableAnnotations(test, MaxAllocations.class)) {
            budgets.add(budget(max.method(), max.under(), "allocations", max.value()));
        }
        for (MaxBytecodes max : AnnotationSupport.findRepeatableAnnotations(test, MaxBytecodes.class)) {
            budgets.add(budget(max.method(), max.under(), "bytecodes", max.value()));
        }
        return budgets;
    }

    private static String budget(String method, String under, String figure, long most) {
        if (most < 0) {
            throw new ExtensionConfigurationException("at most " + most + " " + figure + " of " + method + ": a budget is no less than 0");
        }
        return "[[budget]]\nmethod = " + quoted(method) + "\n" + (under.isEmpty() ? "" : "under = " + quoted(under) + "\n")
            + String.format(Locale.ROOT, "%s = \"<= %d\"\n", figure, most);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}

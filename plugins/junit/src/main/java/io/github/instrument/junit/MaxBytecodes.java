package io.github.instrument.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test fails if it executes more bytecode instructions than so many. They have to be counted: {@code transform=method-events:bytecodes}.
 * Nothing is checked where nothing is recorded.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(MaxBytecodes.Several.class)
@ExtendWith(BudgetExtension.class)
public @interface MaxBytecodes {
    /** In which methods, what they call not included: a pattern as the command line takes it; by default in all that are recorded. */
    String method() default "**";

    /** Instructions that are allowed. */
    long value();

    /** Only what is executed below this method, a pattern as well; by default in the whole test. */
    String under() default "";

    /** More than one. */
    @Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith(BudgetExtension.class)
    @interface Several {
        /** They. */
        MaxBytecodes[] value();
    }
}

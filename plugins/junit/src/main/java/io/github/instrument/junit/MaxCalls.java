package io.github.instrument.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** The test fails if it calls certain methods more often than so many times. Nothing is checked where nothing is recorded. */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(MaxCalls.Several.class)
@ExtendWith(BudgetExtension.class)
public @interface MaxCalls {
    /** Which methods, such as {@code **.Connection#prepareStatement}: a pattern as the command line takes it. */
    String method();

    /** Calls that are allowed, of all these methods together; 0: none. */
    long value();

    /** Only calls below this method, a pattern as well; by default those of the whole test. */
    String under() default "";

    /** More than one. */
    @Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith(BudgetExtension.class)
    @interface Several {
        /** They. */
        MaxCalls[] value();
    }
}

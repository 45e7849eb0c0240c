package io.github.instrument.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test fails if it makes more objects and arrays than so many. They have to be counted: {@code transform=method-events:allocation}.
 * Nothing is checked where nothing is recorded.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(MaxAllocations.Several.class)
@ExtendWith(BudgetExtension.class)
public @interface MaxAllocations {
    /** In which methods, a pattern as the command line takes it; by default in all that are recorded. */
    String method() default "**";

    /** Objects and arrays that are allowed; 0: none. */
    long value();

    /** Only what is made below this method, a pattern as well; by default in the whole test. */
    String under() default "";

    /** More than one. */
    @Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith(BudgetExtension.class)
    @interface Several {
        /** They. */
        MaxAllocations[] value();
    }
}

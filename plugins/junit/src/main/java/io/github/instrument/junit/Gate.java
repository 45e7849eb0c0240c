package io.github.instrument.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test fails if a figure of it has grown since the gate was learned. The gate is the file {@code src/test/gates/NAME.gate}, in another
 * folder with {@code -Dinstrument.gates=FOLDER}; {@code -Dinstrument.gateAction=learn} or {@code bless} writes it. Nothing is checked
 * where nothing is recorded.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(BudgetExtension.class)
public @interface Gate {
    /** The name of the gate, which is that of a file. */
    String value();
}

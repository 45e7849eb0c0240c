/* Native methods that are registered: when the library is loaded, and when a class asks for it. See tests/java/native. */
#include <jni.h>

static jint twice_number(JNIEnv *env, jclass type, jint number) { return 2 * number; }

static jstring twice_text(JNIEnv *env, jclass type, jstring text) {
    jclass of = (*env)->GetObjectClass(env, text);
    jmethodID concat = (*env)->GetMethodID(env, of, "concat", "(Ljava/lang/String;)Ljava/lang/String;");
    return (*env)->CallObjectMethod(env, text, concat, text);
}

/* Entered twice by this thread: it has the monitor, and may enter it again. */
static jboolean locked(JNIEnv *env, jobject self) {
    return (*env)->MonitorEnter(env, self) == JNI_OK && (*env)->MonitorExit(env, self) == JNI_OK;
}

static void fail(JNIEnv *env, jobject self, jstring message) {
    const char *text = (*env)->GetStringUTFChars(env, message, NULL);
    (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/IllegalStateException"), text);
    (*env)->ReleaseStringUTFChars(env, message, text);
}

static jint three(JNIEnv *env, jclass type, jint number) { return 3 * number; }

static jlong own(JNIEnv *env, jobject self, jlong number) { return number + 1; }

JNIEXPORT void JNICALL Java_p_1q_SelfRegistered_registerNatives(JNIEnv *env, jclass type) {
    static const JNINativeMethod methods[] = {
        {"three", "(I)I", (void *) three},
        {"own", "(J)J", (void *) own},
    };
    (*env)->RegisterNatives(env, type, methods, 2);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved) {
    static const JNINativeMethod methods[] = {
        {"twice", "(I)I", (void *) twice_number},
        {"twice", "(Ljava/lang/String;)Ljava/lang/String;", (void *) twice_text},
        {"locked", "()Z", (void *) locked},
        {"fail", "(Ljava/lang/String;)V", (void *) fail},
    };
    JNIEnv *env;
    if ((*machine)->GetEnv(machine, (void **) &env, JNI_VERSION_1_6) != JNI_OK) {
        return JNI_ERR;
    }
    jclass type = (*env)->FindClass(env, "p_q/Registered");
    if (type == NULL || (*env)->RegisterNatives(env, type, methods, 4) != JNI_OK) {
        return JNI_ERR;
    }
    return JNI_VERSION_1_6;
}

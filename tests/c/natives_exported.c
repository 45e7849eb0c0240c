/* Native methods under the names that JNI gives to exported functions; see tests/java/native. */
#define _POSIX_C_SOURCE 199309L
#include <jni.h>
#include <time.h>

#define EXPORTED(type, name) JNIEXPORT type JNICALL Java_p_1q_##name

static void run(JNIEnv *env, jobject runnable) {
    jclass type = (*env)->GetObjectClass(env, runnable);
    (*env)->CallVoidMethod(env, runnable, (*env)->GetMethodID(env, type, "run", "()V"));
}

EXPORTED(jint, Exported_add__II)(JNIEnv *env, jclass type, jint a, jint b) { return a + b; }

EXPORTED(jlong, Exported_add__JJ)(JNIEnv *env, jclass type, jlong a, jlong b) { return a + b; }

EXPORTED(jstring, Exported_greet)(JNIEnv *env, jobject self, jstring name) { return name; }

EXPORTED(jint, Exported_secret)(JNIEnv *env, jobject self) { return 42; }

EXPORTED(void, Exported_locked)(JNIEnv *env, jobject self, jobject runnable) { run(env, runnable); }

EXPORTED(void, Exported_lockedClass)(JNIEnv *env, jclass type, jobject runnable) { run(env, runnable); }

EXPORTED(jint, Exported_under_1score)(JNIEnv *env, jclass type) { return 1; }

/* größe */
EXPORTED(jint, Exported_gr_000f6_000dfe)(JNIEnv *env, jclass type) { return 2; }

EXPORTED(jint, Exported_back)(JNIEnv *env, jclass type, jobject asked) {
    jclass of = (*env)->GetObjectClass(env, asked);
    return (*env)->CallIntMethod(env, asked, (*env)->GetMethodID(env, of, "getAsInt", "()I"));
}

EXPORTED(jint, Exported_again)(JNIEnv *env, jclass type) {
    return (*env)->CallStaticIntMethod(env, type, (*env)->GetStaticMethodID(env, type, "add", "(II)I"), 20, 30);
}

EXPORTED(void, Exported_fail)(JNIEnv *env, jobject self, jstring message) {
    jclass type = (*env)->FindClass(env, "java/lang/IllegalStateException");
    const char *text = (*env)->GetStringUTFChars(env, message, NULL);
    (*env)->ThrowNew(env, type, text);
    (*env)->ReleaseStringUTFChars(env, message, text);
}

EXPORTED(void, Exported_spin)(JNIEnv *env, jclass type, jlong ms) {
    struct timespec now, start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec < ms * 1000000LL);
}

EXPORTED(jdouble, Exported_mixed)
(JNIEnv *env, jobject self, jlong a, jdouble b, jobjectArray c, jfloat d, jbyte e) {
    return a + b + (*env)->GetArrayLength(env, c) + d + e;
}

EXPORTED(jint, Base_value)(JNIEnv *env, jobject self) { return 1; }

EXPORTED(jint, Sub_value)(JNIEnv *env, jobject self) { return 10; }

EXPORTED(jint, Square_area)(JNIEnv *env, jobject self) { return 16; }

EXPORTED(jint, Counter_next)(JNIEnv *env, jobject self) { return 3; }

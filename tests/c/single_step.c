/* A JVMTI agent that counts the bytecode instructions which the interpreter begins to execute, by method, of all classes that no boot
 * loader has defined. Option: the file that it writes when the virtual machine ends, a line for each method: class signature, name,
 * descriptor, count, separated by tabs. Run it with -Xint -XX:-RewriteBytecodes -XX:-RewriteFrequentPairs. HotSpot hides what is executed while
 * it resolves an instruction (class initialisers that the first getstatic, putstatic or invokestatic runs), and takes two steps in the same place, one right
 * after the other, for one (returns of a method that returns what it gets from itself). */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (1 << 16)

typedef struct {
    jmethodID method;
    long long count;
    /* NULL: of a class that is not counted. */
    char *name;
} slot;

static slot table[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *path;

static void fail(const char *what, jvmtiError error) {
    fprintf(stderr, "single_step: %s: error %d\n", what, (int) error);
    abort();
}

static char *name_of(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method) {
    jclass class;
    jobject loader;
    char *signature, *name, *descriptor, *line = NULL;
    jvmtiError error;
    if ((error = (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class))) fail("GetMethodDeclaringClass", error);
    if ((error = (*jvmti)->GetClassLoader(jvmti, class, &loader))) fail("GetClassLoader", error);
    if (loader != NULL) {
        if ((error = (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))) fail("GetClassSignature", error);
        if ((error = (*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL))) fail("GetMethodName", error);
        size_t length = strlen(signature) + strlen(name) + strlen(descriptor) + 3;
        line = malloc(length);
        snprintf(line, length, "%s\t%s\t%s", signature, name, descriptor);
        (*jvmti)->Deallocate(jvmti, (unsigned char *) signature);
        (*jvmti)->Deallocate(jvmti, (unsigned char *) name);
        (*jvmti)->Deallocate(jvmti, (unsigned char *) descriptor);
    }
    (*jni)->DeleteLocalRef(jni, class);
    (*jni)->DeleteLocalRef(jni, loader);
    return line;
}

static void JNICALL step(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method, jlocation at) {
    (void) thread;
    (void) at;
    pthread_mutex_lock(&lock);
    size_t i = ((size_t) method >> 3) * 0x9E3779B97F4A7C15ull >> 48;
    while (table[i].method != NULL && table[i].method != method) i = (i + 1) % SLOTS;
    if (table[i].method == NULL) {
        table[i].method = method;
        table[i].name = name_of(jvmti, jni, method);
    }
    table[i].count++;
    pthread_mutex_unlock(&lock);
}

static void JNICALL started(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    (void) jni;
    (void) thread;
    jvmtiError error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_SINGLE_STEP, NULL);
    if (error) fail("SetEventNotificationMode", error);
}

static void JNICALL ended(jvmtiEnv *jvmti, JNIEnv *jni) {
    (void) jvmti;
    (void) jni;
    FILE *out = fopen(path, "w");
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLOTS; i++) {
        if (table[i].name != NULL) fprintf(out, "%s\t%lld\n", table[i].name, table[i].count);
    }
    pthread_mutex_unlock(&lock);
    fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    (void) reserved;
    jvmtiEnv *jvmti;
    jvmtiCapabilities capabilities = {0};
    jvmtiEventCallbacks callbacks = {0};
    jvmtiError error;
    path = strdup(options);
    if ((*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
    capabilities.can_generate_single_step_events = 1;
    if ((error = (*jvmti)->AddCapabilities(jvmti, &capabilities))) fail("AddCapabilities", error);
    callbacks.SingleStep = step;
    callbacks.VMInit = started;
    callbacks.VMDeath = ended;
    if ((error = (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks))) fail("SetEventCallbacks", error);
    if ((error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL)) ||
        (error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL))) {
        fail("SetEventNotificationMode", error);
    }
    return JNI_OK;
}

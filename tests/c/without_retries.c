/* Waits in calls that a signal ends, and does not try again. */
#include <errno.h>
#include <jni.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000L + time.tv_nsec / 1000000;
}

/* How many of three calls of so many ms were interrupted while they waited, and not at their very beginning. */
JNIEXPORT jint JNICALL Java_Wall_withoutRetries(JNIEnv *env, jclass class, jint ms) {
    int interrupted = 0;
    (void)env;
    (void)class;
    for (int call = 0; call < 3; call++) {
        long start = now();
        int result;
        if (call == 0) {
            result = poll(NULL, 0, ms);
        } else if (call == 1) {
            struct timespec time = {0, ms * 1000000L};
            result = nanosleep(&time, NULL);
        } else {
            int descriptor = epoll_create1(0);
            struct epoll_event event;
            result = epoll_wait(descriptor, &event, 1, ms);
            if (result != -1) {
                close(descriptor);
            }
        }
        interrupted += result == -1 && errno == EINTR && now() - start > ms / 10;
    }
    return interrupted;
}

/* Takes every real-time signal that has a handler for a while, as a careless library does, and gives it back. */
#include <jni.h>
#include <signal.h>
#include <time.h>

static void nothing(int signal) { (void)signal; }

JNIEXPORT jint JNICALL Java_TakeSignal_take(JNIEnv *env, jclass class, jint seconds) {
    struct sigaction before[NSIG], mine = {0};
    int taken = 0;
    (void)env;
    (void)class;
    mine.sa_handler = nothing;
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        before[signal].sa_handler = SIG_DFL;
        if (sigaction(signal, NULL, &before[signal]) == 0 && before[signal].sa_handler != SIG_DFL) {
            sigaction(signal, &mine, NULL);
            taken++;
        }
    }
    time_t start = time(NULL);
    while (time(NULL) < start + seconds) {
    }
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        if (before[signal].sa_handler != SIG_DFL) {
            sigaction(signal, &before[signal], NULL);
        }
    }
    return taken;
}

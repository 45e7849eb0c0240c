/** Code regions of every shape; {@code case.toml} names their lines. */
public class Main {
    static int sink;

    static int whole(int n) {
        if (n == 0) {
            return 1;
        }
        return n * whole(n - 1);
    }

    static int loop(int n) {
        int sum = 0;
        while (n > 0) {
            sum += n--;
            if (sum % 3 == 0) {
                continue;
            }
            sum++;
        }
        return sum;
    }

    static int guardedLoop(int n) {
        int sum = 0;
        if (n % 2 == 0) {
            sum = 10;
        }
        while (n > 0) {
            if (n == 7) {
                break;
            }
            sum += n--;
        }
        return sum;
    }

    static int body(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            if (i == 3) {
                continue;
            }
            if (i == 6) {
                break;
            }
            sum += i;
        }
        return sum;
    }

    static String cases(int n) {
        String text;
        switch (n) {
            case 0:
                text = "zero";
                break;
            case 1:
                return "one";
            case 2:
                text = "two";
            default:
                text = "many";
        }
        return text;
    }

    static int returns(int n) {
        if (n > 10) {
            sink = 1;
            if (n > 20) {
                return 2;
            }
            sink++;
        } else {
            sink = 0;
        }
        return sink;
    }

    static int caught(int n) {
        int result = 0;
        try {
            result = 1;
            result = 10 / n;
            result++;
        } catch (ArithmeticException e) {
            result = -1;
        }
        return result;
    }

    static int caughtElsewhere(int n) {
        try {
            sink = 100 / (n - 1);
            sink = 100 / n;
            sink = 100 / (n + 1);
            return sink;
        } catch (ArithmeticException e) {
            return -1;
        } finally {
            sink = 0;
        }
    }

    static int thrown(int n) {
        int a = n + 1;
        int b = 100 / n;
        return a + b;
    }

    static synchronized int locked(int n) {
        synchronized (Main.class) {
            sink = 100 / n;
        }
        return sink;
    }

    static int nested(int n) {
        int result = 0;
        for (int i = 0; i < n; i++) {
            try {
                if (i == 1) {
                    throw new IllegalStateException();
                }
                result += i;
            } catch (IllegalStateException e) {
                result += 100;
            }
        }
        return result;
    }

    static int neighbours(int n) {
        int a = n * 2;
        a += n;
        a -= 1;
        if (a > 5) {
            a = 5;
        }
        return a;
    }

    static int middle(int n) {
        do {
            n--;
            if (n == 4) {
                n--;
            }
            sink = n;
        } while (n > 0);
        return n;
    }

    static int handler(int n) {
        int a = 1;
        try {
            a = 100 / n;
        } catch (ArithmeticException e) {
            a = -1;
            a--;
        }
        return a;
    }

    static int lambda(int n) {
        Runnable task = () -> {
            sink += n;
        };
        task.run();
        task.run();
        return sink;
    }

    static class Made {
        final int value;

        Made(int n) {
            this(100 / n,
                "made");
            sink = 50 / (n - 5);
        }

        private Made(int value, String text) {
            this.value = value + text.length();
        }
    }

    static void print(String name, int... arguments) {
        StringBuilder line = new StringBuilder(name);
        for (int n : arguments) {
            Object result;
            try {
                switch (name) {
                    case "whole": result = whole(n); break;
                    case "loop": result = loop(n); break;
                    case "guardedLoop": result = guardedLoop(n); break;
                    case "body": result = body(n); break;
                    case "cases": result = cases(n); break;
                    case "returns": result = returns(n); break;
                    case "caught": result = caught(n); break;
                    case "caughtElsewhere": result = caughtElsewhere(n); break;
                    case "thrown": result = thrown(n); break;
                    case "locked": result = locked(n); break;
                    case "nested": result = nested(n); break;
                    case "neighbours": result = neighbours(n); break;
                    case "middle": result = middle(n); break;
                    case "handler": result = handler(n); break;
                    case "lambda": result = lambda(n); break;
                    default: result = new Made(n).value; break;
                }
            } catch (ArithmeticException e) {
                result = "!";
            }
            line.append(' ').append(result);
        }
        System.out.println(line);
    }

    public static void main(String[] args) {
        print("whole", 4, 0);
        print("loop", 0, 5, 9);
        print("guardedLoop", 0, 5, 8);
        print("body", 2, 9);
        print("cases", 0, 1, 2, 3);
        print("returns", 5, 15, 25);
        print("caught", 0, 5);
        print("caughtElsewhere", -1, 0, 1, 2);
        print("thrown", 0, 2);
        print("locked", 0, 2);
        print("nested", 3);
        print("neighbours", 1, 5);
        print("middle", 6);
        print("handler", 0, 1, 2);
        print("lambda", 3);
        print("Made", 0, 5, 10);
    }
}

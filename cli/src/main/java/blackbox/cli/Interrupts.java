package blackbox.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;

/// What SIGINT and SIGTERM do while a command has something to bring to an end: the first one lets the command do so,
/// the
/// second ends the process and its children at once. The JVM would run its shutdown hooks at the first and ignore the
/// second.
///
/// Uses `sun.misc.Signal` of the supported module `jdk.unsupported`, by reflection: the compiler warns of any other
/// use.
final class Interrupts implements AutoCloseable {

    private static final int SIGNALLED = 128;

    private final Map<String, Object> before = new HashMap<>();
    private final AtomicBoolean interrupted = new AtomicBoolean();
    private final IntConsumer first;

    private Interrupts(IntConsumer first) {
        this.first = first;
    }

    /// From now on, until this is closed.
    ///
    /// @param first gets the number of the first signal, on a thread of its own
    static Interrupts handledBy(IntConsumer first) {
        var interrupts = new Interrupts(first);
        for (String name : List.of("INT", "TERM")) {
            interrupts.before.put(name, handle(name, interrupts.handler()));
        }
        return interrupts;
    }

    private Object handler() {
        InvocationHandler handler = (proxy, method, arguments) -> switch (method.getName()) {
            case "handle" -> {
                signalled((int) number().invoke(arguments[0]));
                yield null;
            }
            default -> method.invoke(this, arguments);
        };
        Class<?> type = named("sun.misc.SignalHandler");
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private void signalled(int number) {
        if (interrupted.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("interrupt").start(() -> first.accept(number));
        } else {
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
            Runtime.getRuntime().halt(SIGNALLED + number);
        }
    }

    private static Object handle(String name, Object handler) {
        try {
            Class<?> signal = named("sun.misc.Signal");
            Method handle = signal.getMethod("handle", signal, named("sun.misc.SignalHandler"));
            return handle.invoke(null, signal.getConstructor(String.class).newInstance(name), handler);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("SIG" + name + " cannot be handled", e);
        }
    }

    private static Method number() throws NoSuchMethodException {
        return named("sun.misc.Signal").getMethod("getNumber");
    }

    private static Class<?> named(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("this Java has no " + name, e);
        }
    }

    /// As it was before.
    @Override
    public void close() {
        before.forEach(Interrupts::handle);
    }
}

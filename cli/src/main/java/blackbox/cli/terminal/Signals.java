package blackbox.cli.terminal;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/// Handlers of signals, until they are closed. Uses `sun.misc.Signal` of the supported module `jdk.unsupported`, by
/// reflection: the compiler warns of any other use.
public final class Signals implements AutoCloseable {

    private final Map<String, Object> before = new HashMap<>();

    private Signals() {}

    /// Calls `handler` with the signal's number for each of these signals, on one of the JVM's threads.
    ///
    /// @param names without `SIG`
    public static Signals on(List<String> names, IntConsumer handler) {
        var signals = new Signals();
        for (String name : names) {
            signals.before.put(name, handle(name, proxy(handler)));
        }
        return signals;
    }

    private static Object proxy(IntConsumer handler) {
        InvocationHandler calls = (proxy, method, arguments) -> switch (method.getName()) {
            case "handle" -> {
                handler.accept((int) number().invoke(arguments[0]));
                yield null;
            }
            default -> method.invoke(handler, arguments);
        };
        Class<?> type = named("sun.misc.SignalHandler");
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls);
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

    /// Restores the previous handlers.
    @Override
    public void close() {
        before.forEach(Signals::handle);
    }
}

# Sourced, not run. Sets JAVA_HOME to a JDK 25, or leaves it empty when this machine has none.
# It reads the `release` file instead of running `java -version`, because the launcher pays for every millisecond.

is_jdk25() {
    [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
    while IFS= read -r jdk25_line; do
        case $jdk25_line in JAVA_VERSION=\"25[.\"+]*) return 0 ;; esac
    done <"$1/release"
    return 1
}

find_jdk25() {
    for jdk25_home in "${JAVA_HOME:-}" /usr/lib/jvm/*25*; do
        if [ -n "$jdk25_home" ] && is_jdk25 "$jdk25_home"; then
            JAVA_HOME=$jdk25_home
            return 0
        fi
    done
    JAVA_HOME=
    return 1
}

find_jdk25 || :
export JAVA_HOME

# Maven's garbage collector, unless MAVEN_OPTS chooses one: no JVM takes two.
case " ${MAVEN_OPTS:-}" in
    *" -XX:+Use"*GC*) maven_gc= ;;
    *) maven_gc=-XX:+UseParallelGC ;;
esac
export maven_gc

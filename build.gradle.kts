// Modules, versions, dependencies, compiler and test options are all read from the POMs, so that there is one place to
// change them. See settings.gradle.kts: this file has not been run.
import javax.xml.parsers.DocumentBuilderFactory
import org.w3c.dom.Element
import org.w3c.dom.Node

fun pom(file: File): Element =
    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file).documentElement

fun Element.children(): List<Element> =
    (0 until childNodes.length).map { childNodes.item(it) }
        .filter { it.nodeType == Node.ELEMENT_NODE }
        .map { it as Element }

/** The one element at a path of names below this one, or null. */
fun Element.at(path: String): Element? =
    path.split("/").fold(this as Element?) { at, name -> at?.children()?.firstOrNull { it.tagName == name } }

fun Element.text(path: String): String? = at(path)?.textContent?.trim()

val rootPom = pom(file("pom.xml"))
val pomVersion = rootPom.text("version")!!
val pomProperties: Map<String, String> =
    rootPom.at("properties")!!.children().associate { it.tagName to it.textContent.trim() } +
        ("project.version" to pomVersion)

fun resolve(text: String): String =
    Regex("\\$\\{([^}]+)}").replace(text) { pomProperties[it.groupValues[1]] ?: error("no property ${it.value} in pom.xml") }

class PomDependency(element: Element) {
    val group = resolve(element.text("groupId")!!)
    val name = resolve(element.text("artifactId")!!)
    val version = element.text("version")?.let(::resolve)
    val type = element.text("type") ?: "jar"
    val classifier = element.text("classifier")
    val scope = element.text("scope") ?: "compile"
    val exclusions = element.at("exclusions")?.children().orEmpty()
        .map { it.text("groupId")!! to it.text("artifactId")!! }
    val isOurs get() = group == "dev.blackbox"
    val coordinates get() = listOfNotNull("$group:$name", version, classifier).joinToString(":")
}

fun Element.dependencies(path: String): List<PomDependency> =
    at(path)?.children().orEmpty().map(::PomDependency)

val managed = rootPom.dependencies("dependencyManagement/dependencies")
val folderOf: Map<String, String> =
    rootPom.at("modules")!!.children().map { it.textContent.trim() }
        .associateBy { pom(file("$it/pom.xml")).text("artifactId")!! }

fun pomPlugins(parent: Element): List<Element> =
    listOf("build/plugins", "build/pluginManagement/plugins").flatMap { parent.at(it)?.children().orEmpty() }

fun processorPaths(parent: Element): List<PomDependency> =
    pomPlugins(parent).filter { it.text("artifactId") == "maven-compiler-plugin" }
        .flatMap { it.dependencies("configuration/annotationProcessorPaths") }

val compilerArguments: List<String> =
    pomPlugins(rootPom).first { it.text("artifactId") == "maven-compiler-plugin" && it.at("configuration") != null }
        .at("configuration/compilerArgs")!!.children()
        .map { resolve(it.textContent.trim()).replace(Regex("\\s+"), " ") }

// The compiler's own JVM needs what Maven's JVM is given for Error Prone.
val compilerJvmArguments: List<String> = file(".mvn/jvm.config").readLines().filter { it.startsWith("--add-") }

subprojects {
    apply(plugin = "java-library")
    group = "dev.blackbox"
    version = pomVersion
    repositories { mavenCentral() }

    val modulePom = pom(file("pom.xml"))

    extensions.configure<JavaPluginExtension> {
        toolchain.languageVersion.set(JavaLanguageVersion.of(pomProperties.getValue("maven.compiler.release").toInt()))
    }

    // The test classes of a module, for the modules that reuse its test code (Maven's test-jar).
    val testJar by configurations.creating { isCanBeConsumed = true; isCanBeResolved = false }
    val testClasses = tasks.register<Jar>("testJar") {
        archiveClassifier.set("tests")
        from(project.extensions.getByType<SourceSetContainer>()["test"].output)
    }
    artifacts.add(testJar.name, testClasses)

    fun add(configuration: String, dependency: PomDependency) {
        val notation: Any = when {
            dependency.isOurs && dependency.type == "test-jar" ->
                project.dependencies.project(mapOf("path" to ":" + folderOf.getValue(dependency.name), "configuration" to "testJar"))
            dependency.isOurs -> project(":" + folderOf.getValue(dependency.name))
            else -> dependency.coordinates
        }
        val added = project.dependencies.add(configuration, notation)
        if (added is ModuleDependency) {
            dependency.exclusions.forEach { (group, name) ->
                if (group == "*" || name == "*") added.isTransitive = false else added.exclude(group, name)
            }
        }
    }

    val all = rootPom.dependencies("dependencies") + modulePom.dependencies("dependencies")
    for (dependency in all) {
        val management = managed.firstOrNull {
            it.group == dependency.group && it.name == dependency.name && it.type == dependency.type
        }
        val configuration = when (if (dependency.scope == "compile") management?.scope ?: "compile" else dependency.scope) {
            "test" -> "testImplementation"
            "provided" -> "compileOnly"
            "runtime" -> "runtimeOnly"
            else -> "api"
        }
        add(configuration, dependency)
    }

    for (scope in listOf("api", "compileOnly", "runtimeOnly", "testImplementation", "annotationProcessor", "testAnnotationProcessor")) {
        for (bom in managed.filter { it.type == "pom" }) {
            dependencies.add(scope, dependencies.platform(bom.coordinates))
        }
    }
    configurations.configureEach {
        resolutionStrategy {
            // Maven's dependencyManagement decides versions wherever they come from; so does this.
            managed.filter { it.type == "jar" && !it.isOurs }.forEach { force("${it.group}:${it.name}:${it.version}") }
        }
    }
    for (processor in processorPaths(rootPom) + processorPaths(modulePom)) {
        add("annotationProcessor", processor)
        add("testAnnotationProcessor", processor)
    }
    dependencies.add("testRuntimeOnly", "org.junit.platform:junit-platform-launcher:" + pomProperties.getValue("junit.version"))

    tasks.withType<JavaCompile>().configureEach {
        options.encoding = pomProperties.getValue("project.build.sourceEncoding")
        options.compilerArgs.addAll(compilerArguments + "-parameters")
        options.isFork = true
        options.forkOptions.jvmArgs!!.addAll(compilerJvmArguments)
    }
    tasks.withType<Test>().configureEach {
        useJUnitPlatform()
        jvmArgs(pomProperties.getValue("test.argLine").split(" "))
    }
}

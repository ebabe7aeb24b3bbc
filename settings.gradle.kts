// Maven is the build of record; this takes the modules from pom.xml. Gradle could not be obtained where it was written,
// so neither this nor build.gradle.kts has been run by Gradle; only the half that reads the POMs was compiled and run,
// by the Kotlin compiler alone. The first person who has a Gradle 9: `gradle check`, and tell us.
import javax.xml.parsers.DocumentBuilderFactory

rootProject.name = "blackbox"

val modules = DocumentBuilderFactory.newInstance().newDocumentBuilder()
    .parse(file("pom.xml"))
    .getElementsByTagName("module")

for (i in 0 until modules.length) {
    include(modules.item(i).textContent.trim())
}

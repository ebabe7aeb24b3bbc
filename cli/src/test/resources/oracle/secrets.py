"""Executes with secrets in the environment: at every alignment, in many variables, and in more than is recorded."""

import subprocess

SECRET = "sw0rdf1sh"


def run(name, environment, program="/bin/true"):
    try:
        subprocess.run([program, name], env=environment)
    except OSError as error:
        print(error.strerror)


run("aligned", {"N" * (1 + i): SECRET * (1 + i % 3) for i in range(32)})
run("many", {"VARIABLE_%d" % i: SECRET for i in range(500)})
run("odd", {"EQUALS": "=a=" + SECRET, "LINES": "\n" + SECRET + "\n", "EMPTY": "", "LATIN": "\udcff" + SECRET})
run("long", {"LONG_%d" % i: SECRET * 150 for i in range(40)})
run("cut", {"FIRST": "x", "WHOLE": SECRET * 5000, "LAST": SECRET})
run("failed", {"FAILED": SECRET}, "/nowhere/" + "true")

package blackbox.cli.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.cli.oracle.StraceLog.Deed;
import java.util.List;
import org.junit.jupiter.api.Test;

class StraceLogTest {

    @Test
    void whatSucceededIsReadAndWhatFailedIsNot() {
        List<String> lines = List.of(
                "12  execve(\"\\x2f\\x61\", [\"\\x61\", \"\\x62\\x0a\"], 0x7ffd /* 3 vars */) = 0",
                "12  execve(\"\\x2f\\x62\", [\"\\x62\"], 0x7ffd /* 3 vars */) = -1 ENOENT (No such file or directory)",
                "12  openat(AT_FDCWD</w>, \"\\x66\", O_WRONLY|O_CREAT, 0600) = 3</w/f>",
                "12  openat(AT_FDCWD</w>, \"\\x66\", O_RDONLY) = 3</w/f>",
                "12  renameat(4</w>, \"\\x66\", AT_FDCWD</w>, \"\\x2f\\x67\") = 0",
                "13  rename(\"\\x66\", \"\\x68\" <unfinished ...>",
                "12  unlinkat(4</w>, \"\\x64\", AT_REMOVEDIR) = 0",
                "13  <... rename resumed>) = 0",
                "12  connect(3<socket:[7]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"10.0.0.1\")}, 16)"
                        + " = -1 EINPROGRESS (Operation now in progress)",
                "12  connect(3<socket:[7]>, {sa_family=AF_UNIX, sun_path=\"\\x2f\\x73\"}, 110) = 0",
                "12  +++ exited with 0 +++");
        assertEquals(
                List.of(
                        new Deed("exec", 12, "a\0b\n"),
                        new Deed("open", 12, "/w/f"),
                        new Deed("rename", 12, "/w/f\0/g"),
                        new Deed("rmdir", 12, "/w/d"),
                        new Deed("rename", 13, "/cwd/f\0/cwd/h"),
                        new Deed("connect", 12, "10.0.0.1 80"),
                        new Deed("connect", 12, "/s")),
                StraceLog.parse(lines, "/cwd"));
    }
}

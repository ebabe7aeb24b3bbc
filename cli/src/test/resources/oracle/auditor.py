"""The kernel's audit subsystem as a witness: takes its records over netlink, as auditd does, and keeps them as text.

It is started beside the tracer, before the agent, and outside of the agent's control group. What is audited is what has the
login uid that the workload gives itself (audited.py). When a user message with the word END comes, which the kernel queues
behind all that was before, no more is audited; the records go into the workspace, with the kernel's count of those that it
lost as the first line, and the end of file on a FIFO says so. Lines are "TYPE TEXT".
"""

import os
import socket
import struct

ROOT = "/mnt/workspace"
END = b"blackbox-end"
NETLINK_AUDIT = 9
GET, SET, ADD_RULE = 1000, 1001, 1011
REQUEST, ACK = 1, 4
ERROR = 2
USER_FIRST, USER_LAST = 1100, 1199
SO_RCVBUFFORCE = 33
STATUS_ENABLED, STATUS_PID, STATUS_LIMIT, STATUS_WAIT = 1, 4, 16, 32
BACKLOG_MAX = 65536
FILTER_EXIT, ALWAYS = 4, 2
ARCH, LOGINUID, EQUAL = 11, 9, 0x40000000
X86_64 = 0xC000003E
LOGINUID_AUDITED = 4711
# Numbers of the 64-bit table; AuditLog.java has the names.
CALLS = (2, 42, 49, 56, 57, 58, 59, 60, 76, 77, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94)
CALLS += (105, 106, 113, 114, 117, 119, 122, 123, 132, 133, 231, 235)
CALLS += (257, 258, 259, 260, 261, 263, 264, 265, 266, 268, 280, 316, 322, 435, 437)


class Audit:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_AUDIT)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.bind((0, 0))
        self.lines = []
        self.status = None
        self.ended = False

    def ask(self, kind, payload=b""):
        self.socket.send(struct.pack("=IHHII", 16 + len(payload), kind, REQUEST | ACK, 1, 0) + payload)
        while (answer := self.receive()) is None:
            pass
        if answer != 0:
            raise OSError(-answer, f"audit request {kind}: {os.strerror(-answer)}")

    def set(self, mask, enabled=0, pid=0):
        self.ask(SET, struct.pack("=10I", mask, enabled, 0, pid, 0, BACKLOG_MAX, 0, 0, 0, 6000))

    def watch(self, calls):
        mask = [0] * 64
        for call in calls:
            mask[call // 32] |= 1 << call % 32
        fields = ((ARCH, X86_64), (LOGINUID, LOGINUID_AUDITED))
        columns = [[each[i] for each in fields] + [0] * (64 - len(fields)) for i in (0, 1)]
        flags = [EQUAL] * len(fields) + [0] * (64 - len(fields))
        head = (FILTER_EXIT, ALWAYS, len(fields))
        self.ask(ADD_RULE, struct.pack("=260I", *head, *mask, *columns[0], *columns[1], *flags, 0))

    def receive(self):
        """Takes one message; returns the result of a request if it is one."""
        message = self.socket.recv(65536)
        kind = struct.unpack_from("=IH", message)[1]
        if kind == ERROR:
            return struct.unpack_from("=i", message, 16)[0]
        if kind == GET:
            self.status = struct.unpack_from("=8I", message, 16)
        elif USER_FIRST <= kind <= USER_LAST:
            self.ended = self.ended or END in message
        else:
            self.lines.append(b"%d %s\n" % (kind, message[16:].rstrip(b"\0\n")))
        return None

    def lost(self):
        self.status = None
        self.ask(GET)
        while self.status is None:
            self.receive()
        return self.status[6]


def main():
    audit = Audit()
    audit.set(STATUS_PID | STATUS_LIMIT | STATUS_WAIT, pid=os.getpid())
    audit.watch(CALLS)
    audit.set(STATUS_ENABLED, enabled=1)
    while not audit.ended:
        audit.receive()
    audit.set(STATUS_ENABLED, enabled=0)
    lost = audit.lost()
    with open(f"{ROOT}/audit.log", "wb") as log:
        log.write(b"lost %d\n" % lost)
        log.writelines(audit.lines)
    os.close(os.open(f"{ROOT}/audit.end", os.O_WRONLY))


main()

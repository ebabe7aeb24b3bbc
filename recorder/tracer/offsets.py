"""Offsets of kernel structures, from the running kernel's own type information.

The BPF program includes no kernel header for what it reads: clang would spend most of the cold start on them, and headers
can differ from the kernel that runs. `header()` makes a C header of `#define`s from /sys/kernel/btf/vmlinux. A field that is
not there stops the tracer before anything is attached: nothing is guessed.

Format: Documentation/bpf/btf.rst in the kernel's sources.
"""

import struct

BTF_PATH = "/sys/kernel/btf/vmlinux"

# C name → structure, field. A dot walks into an embedded structure; anonymous members are searched on the way.
FIELDS = {
    "TASK_PID": ("task_struct", "pid"),
    "TASK_TGID": ("task_struct", "tgid"),
    "TASK_FLAGS": ("task_struct", "flags"),
    "TASK_LEADER": ("task_struct", "group_leader"),
    "TASK_START": ("task_struct", "start_boottime"),
    "TASK_PARENT": ("task_struct", "real_parent"),
    "TASK_SIGNAL": ("task_struct", "signal"),
    "TASK_MM": ("task_struct", "mm"),
    "TASK_FS": ("task_struct", "fs"),
    "TASK_COMM": ("task_struct", "comm"),
    "TASK_CRED": ("task_struct", "real_cred"),
    "TASK_EXIT_CODE": ("task_struct", "exit_code"),
    "TASK_TASKS": ("task_struct", "tasks"),
    "TASK_STACK": ("task_struct", "stack"),
    "TASK_NSPROXY": ("task_struct", "nsproxy"),
    "TASK_STATUS": ("task_struct", "thread_info.status"),
    "SIGNAL_LIVE": ("signal_struct", "live"),
    "SIGNAL_FLAGS": ("signal_struct", "flags"),
    "SIGNAL_GROUP_EXIT_CODE": ("signal_struct", "group_exit_code"),
    "MM_ARG_START": ("mm_struct", "arg_start"),
    "MM_ARG_END": ("mm_struct", "arg_end"),
    "MM_ENV_START": ("mm_struct", "env_start"),
    "MM_ENV_END": ("mm_struct", "env_end"),
    "MM_EXE_FILE": ("mm_struct", "exe_file"),
    "FS_PWD": ("fs_struct", "pwd"),
    "FS_ROOT": ("fs_struct", "root"),
    "PATH_MNT": ("path", "mnt"),
    "PATH_DENTRY": ("path", "dentry"),
    "FILE_PATH": ("file", "f_path"),
    "FILE_INODE": ("file", "f_inode"),
    "FILE_COUNT": ("file", "f_count"),
    "FILE_MODE": ("file", "f_mode"),
    "FILE_PRIVATE": ("file", "private_data"),
    "INODE_MODE": ("inode", "i_mode"),
    "INODE_INO": ("inode", "i_ino"),
    "INODE_GENERATION": ("inode", "i_generation"),
    "INODE_SB": ("inode", "i_sb"),
    "SB_DEV": ("super_block", "s_dev"),
    "SB_MAGIC": ("super_block", "s_magic"),
    "DENTRY_SB": ("dentry", "d_sb"),
    "DENTRY_INODE": ("dentry", "d_inode"),
    "DENTRY_HASH_PPREV": ("dentry", "d_hash.pprev"),
    "DENTRY_PARENT": ("dentry", "d_parent"),
    "MOUNT_MNT": ("mount", "mnt"),
    "MOUNT_PARENT": ("mount", "mnt_parent"),
    "MOUNT_MOUNTPOINT": ("mount", "mnt_mountpoint"),
    "MOUNT_NS": ("mount", "mnt_ns"),
    "MOUNT_ID": ("mount", "mnt_id"),
    "MNT_NS_INUM": ("mnt_namespace", "ns.inum"),
    "MNT_NS_SEQUENCE": ("mnt_namespace", "seq"),
    "NSPROXY_MOUNTS": ("nsproxy", "mnt_ns"),
    "NSPROXY_PIDS": ("nsproxy", "pid_ns_for_children"),
    "NSPROXY_NET": ("nsproxy", "net_ns"),
    "NET_INUM": ("net", "ns.inum"),
    "USER_NS_INUM": ("user_namespace", "ns.inum"),
    "PID_NS_INUM": ("pid_namespace", "ns.inum"),
    "VFSMOUNT_ROOT": ("vfsmount", "mnt_root"),
    "FILENAME_NAME": ("filename", "name"),
    "XATTR_NAME": ("xattr_ctx", "kname"),
    "XATTR_VALUE": ("xattr_ctx", "kvalue"),
    "XATTR_SIZE": ("xattr_ctx", "size"),
    "OPEN_FLAG": ("open_flags", "open_flag"),
    "OPEN_MODE": ("open_flags", "mode"),
    "BINPRM_FILENAME": ("linux_binprm", "filename"),
    "CRED_UID": ("cred", "uid"),
    "CRED_GID": ("cred", "gid"),
    "CRED_PERMITTED": ("cred", "cap_permitted"),
    "CRED_EFFECTIVE": ("cred", "cap_effective"),
    "CRED_BOUNDING": ("cred", "cap_bset"),
    "CRED_USERS": ("cred", "user_ns"),
    "SOCKET_SK": ("socket", "sk"),
    "UNIX_ADDRESS": ("unix_sock", "addr"),
    "UNIX_ADDRESS_LEN": ("unix_address", "len"),
    "UNIX_ADDRESS_NAME": ("unix_address", "name"),
    "SK_DADDR": ("sock", "__sk_common.skc_daddr"),
    "SK_SADDR": ("sock", "__sk_common.skc_rcv_saddr"),
    "SK_DADDR6": ("sock", "__sk_common.skc_v6_daddr"),
    "SK_SADDR6": ("sock", "__sk_common.skc_v6_rcv_saddr"),
    "SK_DPORT": ("sock", "__sk_common.skc_dport"),
    "SK_SPORT": ("inet_sock", "inet_sport"),
    "SK_FAMILY": ("sock", "__sk_common.skc_family"),
    "SK_STATE": ("sock", "__sk_common.skc_state"),
    "SK_FLAGS": ("sock", "__sk_common.skc_flags"),
    "SK_PROTOCOL": ("sock", "sk_protocol"),
    "TCP_WRITE_SEQ": ("tcp_sock", "write_seq"),
    "TCP_BYTES_SENT": ("tcp_sock", "bytes_sent"),
    "TCP_BYTES_RETRANS": ("tcp_sock", "bytes_retrans"),
    "TCP_BYTES_RECEIVED": ("tcp_sock", "bytes_received"),
    "MSG_NAME": ("msghdr", "msg_name"),
    "MSG_ITER": ("msghdr", "msg_iter"),
    "ITER_TYPE": ("iov_iter", "iter_type"),
    "ITER_OFFSET": ("iov_iter", "iov_offset"),
    "ITER_IOV": ("iov_iter", "iov"),
    "SKB_HEAD": ("sk_buff", "head"),
    "SKB_DATA": ("sk_buff", "data"),
    "SKB_LEN": ("sk_buff", "len"),
    "SKB_NETWORK": ("sk_buff", "network_header"),
    "SKB_TRANSPORT": ("sk_buff", "transport_header"),
    "SKB_PROTOCOL": ("sk_buff", "protocol"),
    "URING_FILE": ("io_kiocb", "file"),
    "URING_RESULT": ("io_kiocb", "cqe.res"),
    "URING_RW_LEN": ("io_rw", "len"),
    "KIOCB_FILE": ("kiocb", "ki_filp"),
    "IOCB_NBYTES": ("iocb", "aio_nbytes"),
    "REGS_BX": ("pt_regs", "bx"),
    "REGS_CX": ("pt_regs", "cx"),
    "REGS_DI": ("pt_regs", "di"),
    "REGS_SI": ("pt_regs", "si"),
    "REGS_DX": ("pt_regs", "dx"),
    "REGS_R10": ("pt_regs", "r10"),
    "REGS_NUMBER": ("pt_regs", "orig_ax"),
}

# C name → enumeration constant.
CONSTANTS = {
    "SOCK_DONE_BIT": "SOCK_DONE",
    "ITER_IOVEC_TYPE": "ITER_IOVEC",
    "ITER_UBUF_TYPE": "ITER_UBUF",
    "URING_QUEUED": "IOU_ISSUE_SKIP_COMPLETE",
}

NEIGHBOURS = [
    ("dentry", "d_hash.pprev", "d_parent", 8),
    ("dentry", "d_parent", "d_name.name", 16),
    ("mount", "mnt_parent", "mnt_mountpoint", 8),
    ("cred", "uid", "fsgid", 28),
]

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST = range(1, 11)
RESTRICT, FUNC, FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = range(11, 20)
MAGIC = 0xEB9F
TRAILER_BYTES = {INT: 4, VAR: 4, DECL_TAG: 4}
ELEMENT_BYTES = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}


class MissingType(Exception):
    """The kernel has no such structure, field or constant."""


class Btf:
    """The kernel's types: enough to find members and enumeration constants."""

    def __init__(self, data):
        magic, _, _, header, type_off, type_len, str_off, str_len = struct.unpack_from("<HBBIIIII", data, 0)
        if magic != MAGIC:
            raise MissingType("no BTF in " + BTF_PATH)
        self.data = data
        self.strings = data[header + str_off : header + str_off + str_len]
        self.structs = {}  # name → position of the type
        self.positions = [0]
        self.enums = []
        self.functions = {}  # position of the name → number of the type
        self._index(header + type_off, header + type_off + type_len)

    def _index(self, at, end):
        unpack = struct.Struct("<III").unpack_from
        data, positions = self.data, self.positions
        while at < end:
            positions.append(at)
            name, info, _ = unpack(data, at)
            kind, count = (info >> 24) & 31, info & 0xFFFF
            if kind == STRUCT or kind == UNION:
                if name:
                    self.structs.setdefault(name, at)
            elif kind == ENUM:
                self.enums.append(at)
            elif kind == FUNC:
                self.functions[name] = len(positions) - 1
            at += 12 + TRAILER_BYTES.get(kind, 12 if kind == ARRAY else 0) + ELEMENT_BYTES.get(kind, 0) * count

    def name(self, offset):
        return self.strings[offset : self.strings.index(b"\0", offset)].decode()

    def functions_named(self, names):
        """The numbers of functions, to which tracing programs can be bound; those that are not there are left out."""
        found = {name: self.functions.get(self._string(name)) for name in names}
        return {name: number for name, number in found.items() if number is not None}

    def offset(self, structure, field):
        """Octets from the start of `structure` to `field`."""
        key = self._string(structure)
        if key not in self.structs:
            raise MissingType(f"kernel has no struct {structure}")
        at, total = self.structs[key], 0
        for part in field.split("."):
            found = self._member(at, part) if at else None
            if found is None:
                raise MissingType(f"struct {structure} has no {field}")
            total += found[0]
            at = self._resolve(found[1])
        return total

    def constant(self, wanted):
        key = self._string(wanted)
        for at in self.enums:
            count = struct.unpack_from("<I", self.data, at + 4)[0] & 0xFFFF
            for i in range(count):
                name, value = struct.unpack_from("<Ii", self.data, at + 12 + 8 * i)
                if name == key:
                    return value
        raise MissingType(f"kernel has no constant {wanted}")

    def _string(self, text):
        # Strings are stored once, so that equal names have equal offsets.
        return self.strings.find(b"\0" + text.encode() + b"\0") + 1

    def _member(self, at, wanted):
        _, info, _ = struct.unpack_from("<III", self.data, at)
        bitfields = info >> 31
        for i in range(info & 0xFFFF):
            name, kind, bits = struct.unpack_from("<III", self.data, at + 12 + 12 * i)
            octets = (bits & 0xFFFFFF if bitfields else bits) // 8
            if name and self.name(name) == wanted:
                return octets, kind
            if not name:
                inner = self._resolve(kind)
                found = self._member(inner, wanted) if inner else None
                if found:
                    return octets + found[0], found[1]
        return None

    def _resolve(self, kind):
        """Position of the structure behind typedefs and qualifiers, or None."""
        for _ in range(16):
            at = self.positions[kind]
            if not at:
                return None
            _, info, target = struct.unpack_from("<III", self.data, at)
            what = (info >> 24) & 31
            if what in (STRUCT, UNION):
                return at
            if what not in (TYPEDEF, VOLATILE, CONST, TYPE_TAG):
                return None
            kind = target
        return None


def load(path=BTF_PATH):
    with open(path, "rb") as file:
        return Btf(file.read())


def header(btf):
    """The C header with every offset the program uses."""
    # The program reads these neighbours at once.
    for structure, first, second, distance in NEIGHBOURS:
        if btf.offset(structure, second) - btf.offset(structure, first) != distance:
            raise MissingType(f"struct {structure} has {second} elsewhere than expected behind {first}")
    lines = [f"#define OFF_{name} {btf.offset(*where)}" for name, where in FIELDS.items()]
    lines += [f"#define {name} {btf.constant(constant)}" for name, constant in CONSTANTS.items()]
    return "\n".join(lines) + "\n"

import { endianness } from "node:os";

interface Numbers {
  /** AUDIT_ARCH_… of linux/audit.h. */
  readonly arch: number;
  /** By the name of the call, as the kernel's tables of the architecture have it. */
  readonly calls: Readonly<Record<string, number>>;
}

/**
 * What no command needs and what reaches beyond its sandbox: keys of the user, queues that pass filters by, handles of
 * files, the kernel itself. Container runtimes leave out the same.
 */
const x64: Numbers = {
  arch: 0xc000003e,
  calls: {
    ...{
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
    },
    ...{ userfaultfd: 323, bpf: 321, perf_event_open: 298, open_by_handle_at: 304, name_to_handle_at: 303 },
    ...{ kexec_load: 246, kexec_file_load: 320, init_module: 175, finit_module: 313, delete_module: 176, acct: 163 },
    ...{ swapon: 167, swapoff: 168, reboot: 169, quotactl: 179, quotactl_fd: 443, lookup_dcookie: 212, uselib: 134 },
    ...{ process_vm_readv: 310, process_vm_writev: 311, fanotify_init: 300, syslog: 103 },
    ...{ setxattr: 188, lsetxattr: 189, fsetxattr: 190 },
    ...{ socket: 41, fcntl: 72 },
  },
};
const arm64: Numbers = {
  arch: 0xc00000b7,
  calls: {
    ...{
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
    },
    ...{ userfaultfd: 282, bpf: 280, perf_event_open: 241, open_by_handle_at: 265, name_to_handle_at: 264 },
    ...{ kexec_load: 104, kexec_file_load: 294, init_module: 105, finit_module: 273, delete_module: 106, acct: 89 },
    ...{ swapon: 224, swapoff: 225, reboot: 142, quotactl: 60, quotactl_fd: 443, lookup_dcookie: 18 },
    ...{ process_vm_readv: 270, process_vm_writev: 271, fanotify_init: 262, syslog: 116 },
    ...{ setxattr: 5, lsetxattr: 6, fsetxattr: 7 },
    ...{ socket: 198, fcntl: 25 },
  },
};
const machines: Readonly<Record<string, Numbers | undefined>> = { x64, arm64 };

const EPERM = 1;
const EAFNOSUPPORT = 97;
const EOPNOTSUPP = 95;
/** Programs take these for a file system that has no such attributes. */
const attributes: ReadonlySet<string> = new Set(["setxattr", "lsetxattr", "fsetxattr"]);
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: no virtual machines, no kernel crypto, no raw packets. */
const families = [1, 2, 10, 16];
/** F_SETLEASE and F_NOTIFY: with a lease a reader keeps everybody from a file. */
const fileControls = [1024, 1026];

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const ret = 0x06;
const allow = 0x7fff0000;
const fail = 0x00050000;
const offset = { number: 0, arch: 4, firstArgument: 16, secondArgument: 24 };

/**
 * The filter as bubblewrap takes it: a program for the kernel, 8 bytes for each instruction (linux/filter.h). Undefined
 * for machines whose tables are not here.
 */
export function seccompFilter(machine: string = process.arch): Buffer | undefined {
  const numbers = machines[machine];
  if (numbers === undefined || endianness() !== "LE") return undefined;
  const { socket = -1, fcntl = -1, ...denied } = numbers.calls;
  const program: [code: number, whenTrue: number, whenFalse: number, value: number][] = [
    [load, 0, 0, offset.arch],
    // Calls of another architecture have other numbers.
    [jumpIfEqual, 1, 0, numbers.arch],
    [ret, 0, 0, fail | EPERM],
    [load, 0, 0, offset.number],
  ];
  // The second table of numbers that x86-64 has.
  if (machine === "x64") program.push([jumpIfAtLeast, 0, 1, 0x40000000], [ret, 0, 0, fail | EPERM]);
  for (const [name, number] of Object.entries(denied))
    program.push([jumpIfEqual, 0, 1, number], [ret, 0, 0, fail | (attributes.has(name) ? EOPNOTSUPP : EPERM)]);
  program.push([jumpIfEqual, 0, families.length + 2, socket], [load, 0, 0, offset.firstArgument]);
  for (const [index, family] of families.entries()) program.push([jumpIfEqual, families.length - index, 0, family]);
  program.push([ret, 0, 0, fail | EAFNOSUPPORT]);
  // Anyone who came here with a family that is allowed holds no number any more.
  program.push([load, 0, 0, offset.number], [jumpIfEqual, 0, fileControls.length + 1, fcntl]);
  program.push([load, 0, 0, offset.secondArgument]);
  for (const [index, command] of fileControls.entries())
    program.push([jumpIfEqual, fileControls.length - index, 0, command]);
  program.push([ret, 0, 0, allow], [ret, 0, 0, fail | EPERM]);
  return Buffer.concat(program.map(toBytes));
}

function toBytes([code, whenTrue, whenFalse, value]: readonly [number, number, number, number]): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}

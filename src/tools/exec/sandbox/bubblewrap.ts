import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import path from "node:path";
import { isInside } from "../../../policy/locations/paths.js";
import type { View } from "../view/view.js";
import { argsFd, type Confinement, filterFd, type Launch } from "./sandbox.js";
import { seccompFilter } from "./seccomp.js";

// Never looked up in PATH, which others may steer.
const usualPaths = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/**
 * What programs need of /etc; the rest of it, such as /etc/shadow and keys, is none of a command's business. Of ssl and
 * pki the certificates only: what is private there can be read by a gateway that runs as root.
 */
const etc = [
  ..."alternatives bash.bashrc ca-certificates ca-certificates.conf crypto-policies debian_version fonts group".split(
    " ",
  ),
  ..."host.conf hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime magic".split(" "),
  ..."mime.types nsswitch.conf os-release passwd profile protocols python3 resolv.conf services".split(" "),
  ..."static terminfo timezone xdg".split(" "),
  ...["certs", "cert.pem", "openssl.cnf", "ct_log_list.cnf"].map((name) => `ssl/${name}`),
  ...["ca-trust", "java", "tls/certs", "tls/cert.pem", "tls/openssl.cnf", "tls/ct_log_list.cnf"].map(
    (name) => `pki/${name}`,
  ),
];
const rootFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

export function findBubblewrap(): string | undefined {
  return usualPaths.find((path) => existsSync(path));
}

/** Commands in namespaces of their own: they have other processes, another network, and files only where we say. */
export function createBubblewrap(file: string): Confinement {
  return {
    name: "bubblewrap",
    hasOwnProcesses: true,
    hasMounts: true,
    launch(command, { view, temp, network }): Launch {
      const filter = seccompFilter();
      const args = [
        ...(filter === undefined ? [] : ["--seccomp", String(filterFd)]),
        ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"],
        ...(network ? [] : ["--unshare-net"]),
        // Root would keep its capabilities otherwise, and could mount everything again.
        ...["--cap-drop", "ALL", "--die-with-parent", "--hostname", "sandbox"],
        ...systemMounts(),
        ...procMounts(),
        // What is written there would be memory, for which nobody is asked.
        ...["--dev", "/dev", "--bind", temp.memory, "/dev/shm", "--remount-ro", "/dev"],
        ...["--bind", temp.shown, "/tmp", "--symlink", "/tmp", "/var/tmp"],
        ...workspaceMounts(view),
        ...["--remount-ro", "/", "--chdir", "/"],
      ];
      return {
        file,
        args: ["--args", String(argsFd), "--", ...command],
        moreArgs: args.map((arg) => `${arg}\0`).join(""),
        filter,
      };
    },
  };
}

function systemMounts(): readonly string[] {
  return [
    ...["--ro-bind", "/usr", "/usr"],
    ...rootFolders.flatMap((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return [];
      return stats.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
    }),
    ...["/opt", "/nix/store"].flatMap((target) => ["--ro-bind-try", target, target]),
    ...etc.flatMap((name) => readableIn(`/etc/${name}`)).flatMap((target) => ["--ro-bind-try", target, target]),
  ];
}

/**
 * The folder itself, or what is in it where not all of that is for everybody: root would show keys that lie beside
 * certificates.
 */
export function readableIn(target: string): readonly string[] {
  if (process.getuid?.() !== 0 || isForAll(target)) return [target];
  return namesIn(target).flatMap((name) => readableIn(path.join(target, name)));
}

function isForAll(target: string): boolean {
  // A link shows only what is shown anyway.
  const stats = lstatSync(target, { throwIfNoEntry: false });
  if (stats === undefined || stats.isSymbolicLink()) return true;
  if (!stats.isDirectory()) return (stats.mode & 0o004) !== 0;
  return (stats.mode & 0o005) === 0o005 && namesIn(target).every((name) => isForAll(path.join(target, name)));
}

function namesIn(target: string): readonly string[] {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (stats.mode & 0o005) === 0o005 ? readdirSync(target) : [];
}

/**
 * Without this a gateway that runs as root would give its commands the settings of the whole system: they belong to
 * root, for which no capability is asked, and bubblewrap takes their folders for closed because nothing can be made in
 * them. The lists are those of container runtimes.
 */
function procMounts(): readonly string[] {
  const readable = ["bus", "fs", "irq", "sys", "sysrq-trigger"].map((name) => `/proc/${name}`);
  const folders = ["/proc/acpi", "/proc/asound", "/proc/scsi"].filter((path) => existsSync(path));
  const pages = ["kpagecgroup", "kpagecount", "kpageflags", "pagetypeinfo", "slabinfo", "vmallocinfo"];
  const files = ["kcore", "keys", "latency_stats", "sched_debug", "timer_list", ...pages]
    .map((name) => `/proc/${name}`)
    .filter((path) => existsSync(path));
  return [
    ...["--proc", "/proc"],
    ...readable.flatMap((path) => ["--ro-bind-try", path, path]),
    ...folders.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...files.flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
}

/** Nothing is hidden there: what is not to be seen is not in the tree. */
function workspaceMounts(view: View): readonly string[] {
  const { home, tree } = view;
  if (tree === undefined) throw new Error("there is no tree to show");
  const isShown = home !== undefined && ["/usr", "/opt", "/nix/store"].some((folder) => isInside(folder, home));
  return [
    ...(isShown ? ["--tmpfs", home] : []),
    ...["--ro-bind", path.join(tree, "workspace"), view.workspace],
    ...(view.alias === undefined ? [] : ["--symlink", view.workspace, view.alias]),
    ...["--bind", view.folder, view.folder],
    ...["--ro-bind", path.join(tree, "kept"), view.kept],
    ...(isShown ? ["--remount-ro", home] : []),
  ];
}

import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { isInside } from "../../policy/paths.js";
import { argsFd, type Confinement, type Launch } from "./sandbox.js";
import type { View } from "./view.js";

// Never looked up in PATH, which others may steer.
const places = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/** What programs need of /etc; the rest of it, such as /etc/shadow and keys, is none of a command's business. */
const etc = [
  ..."alternatives bash.bashrc ca-certificates ca-certificates.conf crypto-policies debian_version fonts group".split(
    " ",
  ),
  ..."host.conf hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime magic".split(" "),
  ..."mime.types nsswitch.conf os-release passwd pki profile protocols python3 resolv.conf services ssl".split(" "),
  ..."static terminfo timezone xdg".split(" "),
];
const rootFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

export function findBubblewrap(): string | undefined {
  return places.find((path) => existsSync(path));
}

/** Commands in namespaces of their own: they have other processes, another network, and files only where we say. */
export function createBubblewrap(file: string): Confinement {
  return {
    name: "bubblewrap",
    hasOwnProcesses: true,
    launch(command, { view, temp, network }): Launch {
      const args = [
        ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"],
        ...(network ? [] : ["--unshare-net"]),
        // Root would keep its capabilities otherwise, and could mount everything anew.
        ...["--cap-drop", "ALL", "--die-with-parent", "--hostname", "sandbox"],
        ...systemPlaces(),
        ...procPlaces(),
        ...["--dev", "/dev", "--bind", temp, "/tmp", "--symlink", "/tmp", "/var/tmp"],
        ...workspacePlaces(view),
        ...["--remount-ro", "/", "--chdir", "/"],
      ];
      return {
        file,
        args: ["--args", String(argsFd), "--", ...command],
        moreArgs: args.map((arg) => `${arg}\0`).join(""),
      };
    },
  };
}

function systemPlaces(): readonly string[] {
  return [
    ...["--ro-bind", "/usr", "/usr"],
    ...rootFolders.flatMap((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return [];
      return stats.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
    }),
    ...["/opt", "/nix/store", ...etc.map((name) => `/etc/${name}`)].flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/**
 * Without this a gateway that runs as root would give its commands the settings of the whole system: they belong to
 * root, for which no capability is asked, and bubblewrap takes their folders for closed because nothing can be made in
 * them. The lists are those of container runtimes.
 */
function procPlaces(): readonly string[] {
  const readable = ["bus", "fs", "irq", "sys", "sysrq-trigger"].map((name) => `/proc/${name}`);
  const folders = ["/proc/acpi", "/proc/asound", "/proc/scsi"].filter((path) => existsSync(path));
  const files = ["kcore", "keys", "latency_stats", "sched_debug", "timer_list"]
    .map((name) => `/proc/${name}`)
    .filter((path) => existsSync(path));
  return [
    ...["--proc", "/proc"],
    ...readable.flatMap((path) => ["--ro-bind-try", path, path]),
    ...folders.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...files.flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
}

function workspacePlaces(view: View): readonly string[] {
  const { home } = view;
  const isShown = home !== undefined && ["/usr", "/opt", "/nix/store"].some((folder) => isInside(folder, home));
  return [
    ...(isShown ? ["--tmpfs", home] : []),
    ...["--tmpfs", view.workspace],
    ...(view.alias === undefined ? [] : ["--symlink", view.workspace, view.alias]),
    ...view.shown.flatMap((path) => ["--ro-bind-try", path, path]),
    ...view.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...["--bind", view.folder, view.folder],
    ...view.kept.flatMap((path) => ["--ro-bind", path, path]),
    ...view.hidden.flatMap(({ path, kind }) =>
      kind === "folder" ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind-try", "/dev/null", path],
    ),
    ...["--remount-ro", view.workspace],
    ...(isShown ? ["--remount-ro", home] : []),
  ];
}

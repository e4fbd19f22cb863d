import { realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { newId } from "../../../util/ids.js";
import type { View } from "../view/view.js";
import type { Confinement, Launch } from "./sandbox.js";

/** Part of macOS; never looked up in PATH, which others may steer. */
export const sandboxExec = "/usr/bin/sandbox-exec";

/** What programs need of the system. Of /System only parts: below it the whole disk is there a second time. */
const systemFolders = [
  ..."/usr /bin /sbin /opt /System/Library /System/Cryptexes /System/iOSSupport".split(" "),
  ..."/System/Volumes/Preboot /Library/Apple /Library/Developer /Library/Fonts /Library/Frameworks".split(" "),
  ..."/Library/Java /Applications/Xcode.app /nix/store /private/var/select".split(" "),
  ..."/private/var/db/dyld /private/var/db/timezone /private/var/db/xcode_select_link".split(" "),
  ...["bashrc", "group", "hosts", "localtime", "man.conf", "paths", "paths.d", "profile", "protocols", "services"].map(
    (name) => `/private/etc/${name}`,
  ),
  ...["/private/etc/passwd", "/private/etc/shells", "/private/etc/ssl"],
];
/** Below those, and for nobody: the data of databases, settings with passwords in them. */
const closedFolders = [
  ...["/opt/homebrew", "/usr/local"].flatMap((root) => [`${root}/etc`, `${root}/var`]),
  "/System/Volumes/Data",
];
const certificates = ["/opt/homebrew", "/usr/local"].flatMap((root) => [
  `${root}/etc/ca-certificates`,
  `${root}/etc/openssl@3`,
]);
const devices = ["null", "zero", "random", "urandom", "dtracehelper", "stdin", "stdout", "stderr"].map(
  (name) => `/dev/${name}`,
);
/** For names and certificates, where there is a network. */
const networkServices = [
  ..."com.apple.SystemConfiguration.configd com.apple.SystemConfiguration.DNSConfiguration".split(" "),
  ..."com.apple.dnssd.service com.apple.networkd com.apple.trustd.agent".split(" "),
];

interface ProfileOptions {
  readonly view: View;
  /** Real. */
  readonly temp: string;
  readonly network: boolean;
}

/** Commands under a profile of Seatbelt, the sandbox of the system's own apps: all is forbidden but what we name. */
export function createSeatbelt(file: string): Confinement {
  return {
    name: "sandbox-exec",
    hasOwnProcesses: false,
    hasMounts: false,
    launch(command, { view, temp: { hidden, shown }, network }): Launch {
      const temp = realpathSync.native(shown);
      // With a line for each file it may be far too long for an argument.
      const scratchFile = path.join(hidden, `${newId("profile")}.sb`);
      writeFileSync(scratchFile, seatbeltProfile({ view, temp, network }), { flag: "wx", mode: 0o600 });
      return { file, args: ["-f", scratchFile, "--", ...command], environment: { TMPDIR: temp }, scratchFile };
    },
  };
}

/**
 * The rules for one command. The last rule that fits decides. Paths are compared as they truly are, so all of them are
 * real ones.
 *
 * @throws {Error} for a place whose name no rule can hold
 */
export function seatbeltProfile({ view, temp, network }: ProfileOptions): string {
  const { workspace, folder, kept } = view;
  const links = view.shown.links.map((link) => link.path);
  const alias = view.alias === undefined ? [] : [view.alias];
  const files = view.shown.files.map((file) => file.path).filter(canBeNamed);
  const folders = [workspace, ...alias, ...view.shown.folders, ...links].filter(canBeNamed);
  const own = [...subpath(folder), ...subpath(temp)];
  const system = systemFolders.flatMap(subpath);
  const ways = new Set([folder, temp, kept, ...alias, ...systemFolders].flatMap(parentsOf));
  return [
    "(version 1)",
    "(deny default)",
    // What every program needs to start at all: it differs from system to system, and comes with each.
    '(import "system.sb")',
    "(allow process-fork)",
    rule("allow process-exec file-map-executable", [...system, ...own]),
    "(allow process-info* (target same-sandbox))",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    // The arguments and the environment of every process, the gateway's among them.
    '(deny sysctl-read (sysctl-name-prefix "kern.proc"))',
    "(allow ipc-posix-sem)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    rule("allow file-read* file-write-data file-ioctl", [...devices.flatMap(literal), ...subpath("/dev/fd")]),
    rule("allow file-read*", [...literal("/"), ...literal("/dev"), ...system]),
    rule("deny file-read* process-exec", closedFolders.flatMap(subpath)),
    rule("allow file-read*", certificates.flatMap(subpath)),
    ...(view.home === undefined ? [] : [rule("deny file-read* process-exec", subpath(view.home))]),
    // Each by its own name: what comes later is not among them.
    rule("allow file-read*", folders.flatMap(literal)),
    ...(files.length === 0 ? [] : [rule("allow file-read* process-exec file-map-executable", files.flatMap(literal))]),
    rule("allow file-read-metadata", [...ways, "/etc", "/tmp", "/var"].flatMap(literal)),
    rule("allow file-read* file-write* process-exec", own),
    // Neither can be moved away and replaced by a link.
    rule("deny file-write*", [folder, temp].flatMap(literal)),
    ...(network ? networkRules() : []),
  ].join("\n");
}

/** The internet and this machine's ports; none of the sockets in files, over which Docker and keys can be reached. */
function networkRules(): readonly string[] {
  return [
    "(allow system-socket)",
    '(allow network-outbound (remote ip "*:*"))',
    '(allow network-outbound (remote unix-socket (path-literal "/private/var/run/mDNSResponder")))',
    '(allow network-bind network-inbound (local ip "*:*"))',
    rule(
      "allow mach-lookup",
      networkServices.map((name) => `(global-name ${quoted(name)})`),
    ),
    rule("allow file-read*", ["/private/etc/resolv.conf", "/private/var/run/resolv.conf"].flatMap(literal)),
  ];
}

function rule(head: string, filters: readonly string[]): string {
  return `(${head} ${filters.join(" ")})`;
}

function subpath(target: string): readonly string[] {
  return [`(subpath ${quoted(target)})`];
}

function literal(target: string): readonly string[] {
  return [`(literal ${quoted(target)})`];
}

function parentsOf(target: string): readonly string[] {
  const parent = path.dirname(target);
  return parent === target ? [] : [...parentsOf(parent), parent];
}

function canBeNamed(target: string): boolean {
  return !/\p{Cc}/u.test(target);
}

/** A string of Scheme. */
function quoted(text: string): string {
  if (!canBeNamed(text)) throw new Error(`the sandbox cannot name ${JSON.stringify(text)}`);
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

import { realpathSync } from "node:fs";
import path from "node:path";
import { isInside } from "../../policy/paths.js";
import type { Confinement, Launch } from "./sandbox.js";
import type { View } from "./view.js";

/** Part of macOS; never looked up in PATH, which others may steer. */
export const sandboxExec = "/usr/bin/sandbox-exec";

/** What programs need of the system. Of /System only parts: below it the whole disk stands a second time. */
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

interface Places {
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
    launch(command, { view, temp: configured, network }): Launch {
      const temp = realpathSync.native(configured);
      return {
        file,
        args: ["-p", seatbeltProfile({ view, temp, network }), "--", ...command],
        environment: { TMPDIR: temp },
      };
    },
  };
}

/**
 * The rules for one command. The last rule that fits decides. Paths are compared as they truly are, so all of them are
 * real ones.
 *
 * @throws {Error} for a place whose name no rule can hold
 */
export function seatbeltProfile({ view, temp, network }: Places): string {
  const { workspace, folder } = view;
  const shown = view.shown.filter(canBeNamed);
  const links = [...view.links.map((link) => link.path), ...(view.alias === undefined ? [] : [view.alias])].filter(
    canBeNamed,
  );
  const own = [...subpath(folder), ...subpath(temp)];
  const readable = [...systemFolders, ...shown].flatMap(subpath);
  const ways = new Set([folder, temp, ...links, ...systemFolders].flatMap(parentsOf));
  return [
    "(version 1)",
    "(deny default)",
    // What every program needs to start at all: it differs from system to system, and comes with each.
    '(import "system.sb")',
    "(allow process-fork)",
    rule("allow process-exec file-map-executable", [...readable, ...own]),
    "(allow process-info* (target same-sandbox))",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    // The arguments and the environment of every process, the gateway's among them.
    '(deny sysctl-read (sysctl-name-prefix "kern.proc"))',
    "(allow ipc-posix-sem)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    rule("allow file-read* file-write-data file-ioctl", [...devices.flatMap(literal), ...subpath("/dev/fd")]),
    rule("allow file-read*", [...literal("/"), ...literal("/dev"), ...systemFolders.flatMap(subpath)]),
    rule("deny file-read* process-exec", closedFolders.flatMap(subpath)),
    rule("allow file-read*", certificates.flatMap(subpath)),
    ...(view.home === undefined ? [] : [rule("deny file-read* process-exec", subpath(view.home))]),
    rule("allow file-read*", [...literal(workspace), ...links.flatMap(literal)]),
    ...(shown.length === 0 ? [] : [rule("allow file-read* process-exec", shown.flatMap(subpath))]),
    // Also those that appear while the command runs.
    rule("deny file-read* process-exec", [`(regex ${quoted(`^${escaped(workspace)}/([^/]+/)*\\.`)})`]),
    rule("allow file-read-metadata", [...ways, "/etc", "/tmp", "/var"].flatMap(literal)),
    rule("allow file-read* file-write* process-exec", own),
    // Neither can be moved away and replaced by a link.
    rule("deny file-write*", [folder, temp].flatMap(literal)),
    ...(view.kept.length === 0 ? [] : [rule("deny file-write*", view.kept.flatMap(subpath))]),
    ...view.hidden
      .filter(({ path: hidden }) => isInside(folder, hidden) || !hasDot(path.relative(workspace, hidden)))
      .map(({ path: hidden }) => rule("deny file-read* file-write* process-exec", subpath(hidden))),
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

function subpath(place: string): readonly string[] {
  return [`(subpath ${quoted(place)})`];
}

function literal(place: string): readonly string[] {
  return [`(literal ${quoted(place)})`];
}

function parentsOf(place: string): readonly string[] {
  const parent = path.dirname(place);
  return parent === place ? [] : [...parentsOf(parent), parent];
}

function hasDot(relative: string): boolean {
  return relative.split(path.sep).some((name) => name.startsWith("."));
}

function canBeNamed(place: string): boolean {
  return !/\p{Cc}/u.test(place);
}

/** A string of Scheme. */
function quoted(text: string): string {
  if (!canBeNamed(text)) throw new Error(`the sandbox cannot name ${JSON.stringify(text)}`);
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

/** For a regular expression. */
function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

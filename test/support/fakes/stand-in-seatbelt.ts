import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { readSeatbelt, type SeatbeltRules } from "../rules/seatbelt-rules.js";

/**
 * `sandbox-exec -f PROFILE -- COMMAND …` for Linux: asks the rules about each place that they name and about what lies
 * in it, and builds that out of bubblewrap.
 */
const [flag, profile = "", separator, ...command] = process.argv.slice(2);
if (flag !== "-f" || separator !== "--") throw new Error("usage: -f PROFILE -- COMMAND");
const rules = readSeatbelt(readFileSync(profile, "utf8"));
const hasNetwork = rules.allows({ operation: "network-outbound", subject: "127.0.0.1:80" });
const args = [
  ...["--unshare-user", "--unshare-pid", ...(hasNetwork ? [] : ["--unshare-net"]), "--cap-drop", "ALL"],
  ...["--die-with-parent", "--ro-bind", "/usr", "/usr"],
  ...["/bin", "/lib", "/lib64"].flatMap((folder) => ["--symlink", `usr${folder}`, folder]),
  // Root could change the settings of the system otherwise.
  ...["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"],
  ...placesOf(rules).flatMap((place) => mountsOf(place, rules)),
  ...["--remount-ro", "/", "--chdir", "/", "--", ...command],
];
const { status } = spawnSync("bwrap", args, { stdio: [0, 1, 2, 3, 4, 5] });
process.exit(status ?? 137);

/** Outer ones first, each once. Those of the system are there already. */
function placesOf({ places }: SeatbeltRules): readonly string[] {
  return [...new Set(places)]
    .filter((place) => !/^\/(usr|bin|sbin|opt|System|Library|Applications|nix|dev|private)?(\/|$)/.test(place))
    .filter((place) => lstatSync(place, { throwIfNoEntry: false }) !== undefined)
    .sort((a, b) => a.length - b.length);
}

function mountsOf(place: string, { allows }: SeatbeltRules): readonly string[] {
  const isFolder = lstatSync(place).isDirectory();
  const inside = isFolder ? path.join(place, "any") : place;
  if (allows({ operation: "file-write-data", subject: inside })) return ["--bind", place, place];
  if (!allows({ operation: "file-read-data", subject: inside }))
    return isFolder ? ["--tmpfs", place, ...openIn(place, allows)] : ["--ro-bind", "/dev/null", place];
  return ["--ro-bind", place, place, ...(isFolder ? closedIn(place, allows) : [])];
}

function openIn(folder: string, allows: SeatbeltRules["allows"]): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    return entry.isFile() && allows({ operation: "file-read-data", subject: full }) ? ["--ro-bind", full, full] : [];
  });
}

function closedIn(folder: string, allows: SeatbeltRules["allows"]): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (!allows({ operation: "file-read-data", subject: full }))
      return entry.isDirectory() ? ["--tmpfs", full] : ["--ro-bind", "/dev/null", full];
    return entry.isDirectory() ? closedIn(full, allows) : [];
  });
}

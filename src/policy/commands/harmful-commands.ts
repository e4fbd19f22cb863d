import path from "node:path";
import { askingSentence } from "../../util/words/permission-sentences.js";
import { isInside } from "../locations/paths.js";
import { type CommandPart, splitCommand } from "./split-command.js";

/** Where a command starts, and what must not be lost. All absolute. */
export interface CommandGround {
  readonly cwd: string;
  readonly workspace: string;
  readonly home?: string | undefined;
  readonly userHome: string;
}

/** A simple program of a command, and the folder that it works in as far as the words say. */
export interface LocatedPart extends CommandPart {
  readonly cwd: string;
}

export interface ReadCommand {
  readonly parts: readonly LocatedPart[];
  readonly isClear: boolean;
  /** False for one that is nested too deep, or too long, to be read to its end. */
  readonly isWhole: boolean;
}

/** Programs that run the one that their words name. */
const wrappers: ReadonlySet<string> = new Set(
  `sudo doas env nohup nice ionice timeout setsid stdbuf time command builtin exec xargs parallel watch chroot unshare
  flock busybox toybox runuser strace ltrace setpriv chrt taskset systemd-run entr`
    .trim()
    .split(/\s+/),
);
/** What they run is behind one of these. */
const runOptions: Readonly<Record<string, readonly string[]>> = {
  find: ["-exec", "-execdir", "-ok", "-okdir"],
  fd: ["-x", "-X", "--exec", "--exec-batch"],
};
const shells: ReadonlySet<string> = new Set(
  "sh bash dash zsh ksh mksh ash fish csh tcsh eval su ssh watch script parallel flock".split(" "),
);
const deepest = 5;
const mostParts = 500;

/** All programs that a command line names, also behind `sudo`, `xargs`, `find -exec`, and in `sh -c '…'`. */
export function readCommand(command: string, ground: CommandGround): ReadCommand {
  const reader = new PartReader(ground);
  reader.read(command, ground.cwd, 0);
  return reader;
}

class PartReader implements ReadCommand {
  readonly parts: LocatedPart[] = [];
  isClear = true;
  isWhole = true;
  readonly #ground: CommandGround;
  #left = mostParts;

  constructor(ground: CommandGround) {
    this.#ground = ground;
  }

  read(text: string, start: string, depth: number): void {
    if (!this.#isWorthIt(depth)) return;
    const { userHome } = this.#ground;
    let cwd = start;
    const split = splitCommand(text, { userHome, cwd });
    this.isClear &&= split.isClear;
    for (const part of split.parts) {
      this.#add({ ...part, cwd }, split.parts, depth);
      const [program = "", folder = userHome] = part.words;
      if (program === "cd" || program === "pushd") cwd = path.resolve(cwd, folder);
    }
  }

  #add(part: LocatedPart, all: readonly CommandPart[], depth: number): void {
    if (!this.#isWorthIt(depth)) return;
    this.parts.push(part);
    const [program = "", ...rest] = part.words;
    const name = programName(program);
    const options = Object.hasOwn(runOptions, name) ? runOptions[name] : undefined;
    // What it is fed with is as good as its words.
    const fed = name === "xargs" || name === "parallel" ? all.flatMap(({ words }) => words.slice(1)) : [];
    for (const [at, word] of rest.entries()) {
      const begins = options === undefined ? wrappers.has(name) : options.includes(rest[at - 1] ?? "");
      if (begins && isProgram(word))
        this.#add({ ...part, words: [...rest.slice(at), ...fed], targets: [] }, [], depth + 1);
    }
    if (shells.has(name)) this.#readShell(name, rest, part.cwd, all, depth);
  }

  #readShell(name: string, rest: readonly string[], cwd: string, all: readonly CommandPart[], depth: number): void {
    for (const word of rest) if (!word.startsWith("-")) this.read(word, cwd, depth + 1);
    if (name === "eval") this.read(rest.join(" "), cwd, depth + 1);
    // It reads its commands from the program in front of it.
    if (rest.every((word) => word.startsWith("-")))
      for (const { words } of all) if (words.length > 1) this.read(words.slice(1).join(" "), cwd, depth + 1);
  }

  #isWorthIt(depth: number): boolean {
    this.#left -= 1;
    if (depth <= deepest && this.#left > 0) return true;
    this.isClear = false;
    this.isWhole = false;
    return false;
  }
}

/** Why it must not run unasked, for a person; undefined for what destroys nothing as far as its words say. */
export function harmOf(command: string, ground: CommandGround): string | undefined {
  if (isForkBomb(command)) return askingSentence("endless_programs");
  const { parts, isWhole } = readCommand(command, ground);
  for (const part of parts) {
    const harm = harmOfPart(part, ground);
    if (harm !== undefined) return harm;
  }
  return isWhole ? undefined : askingSentence("nested");
}

/** `/sbin/mkfs.ext4` is mkfs. */
export function programName(program: string): string {
  return path.basename(program).toLowerCase();
}

function isProgram(word: string): boolean {
  return /^[A-Za-z0-9_./-]+$/.test(word) && !word.startsWith("-");
}

const diskTools: ReadonlySet<string> = new Set(
  `mke2fs mkswap wipefs fdisk sfdisk gdisk sgdisk cfdisk parted blkdiscard pvremove vgremove lvremove`
    .trim()
    .split(/\s+/),
);
const halts: ReadonlySet<string> = new Set(["shutdown", "reboot", "poweroff", "halt", "telinit"]);
const haltWords = /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|hybrid-sleep|emergency|rescue)$/;
/** Those that hold nothing, or are the command's own. */
const harmlessDevice =
  /^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd(?:\/.*)?|pts\/.*|shm\/.*|(?:tcp|udp)\/.*)$/;

function harmOfPart(part: LocatedPart, ground: CommandGround): string | undefined {
  const [program = "", ...words] = part.words;
  const name = programName(program);
  const targets = words.filter((word) => !word.startsWith("-"));
  const device =
    part.targets.find(isDevice) ?? (writesTo(name, words) ? words.map(targetOf).find(isDevice) : undefined);
  if (device !== undefined) return askingSentence("to_device", { reason: device });
  if (part.targets.includes("/proc/sysrq-trigger")) return askingSentence("stops_machine");
  if (name.startsWith("mkfs") || name.startsWith("newfs") || diskTools.has(name)) return askingSentence("erases_disk");
  if (name === "diskutil" && targets.some((word) => /^(?:erase|reformat|zero|secureErase|partition)/i.test(word)))
    return askingSentence("erases_disk");
  if (name === "cryptsetup" && targets.some((word) => /^(?:luks)?(?:format|erase)$/i.test(word)))
    return askingSentence("erases_disk");
  if (name === "zpool" && targets.includes("destroy")) return askingSentence("erases_disk");
  if (halts.has(name) || (name === "init" && /^[06]$/.test(targets[0] ?? ""))) return askingSentence("stops_machine");
  if ((name === "systemctl" || name === "loginctl") && targets.some((word) => haltWords.test(word)))
    return askingSentence("stops_machine");
  if (name === "killall5" || (name === "kill" && words.slice(1).includes("-1"))) return askingSentence("ends_programs");
  // Of what is moved, the last one is where it goes.
  const losing = name === "mv" ? targets.slice(0, -1) : targets;
  const lost = destroys(name, words) ? losing.find((word) => isTooMuch(targetOf(word), part.cwd, ground)) : undefined;
  return lost === undefined
    ? undefined
    : askingSentence("destroys", { reason: path.resolve(part.cwd, targetOf(lost)) });
}

/** With such options a program removes, moves away or locks whole folders. */
function destroys(name: string, words: readonly string[]): boolean {
  const has = (letters: RegExp, long: string): boolean =>
    words.some((word) => (word.startsWith("--") ? long.startsWith(word) && word.length > 3 : letters.test(word)));
  switch (name) {
    case "rm":
      return has(/^-[A-Za-z]*[rRf]/, "--recursive");
    case "chmod":
    case "chown":
    case "chgrp":
    case "setfacl":
      return has(/^-[A-Za-z]*R/, "--recursive");
    case "mv":
    case "shred":
    case "srm":
      return true;
    case "find":
      return words.includes("-delete") || words.some((word) => /^(?:rm|shred|unlink)$/.test(programName(word)));
    case "fd":
      return words.some((word) => programName(word) === "rm");
    case "rsync":
      return words.some((word) => word.startsWith("--del"));
    default:
      return false;
  }
}

function writesTo(name: string, words: readonly string[]): boolean {
  return name === "dd"
    ? words.some((word) => word.startsWith("of="))
    : /^(?:tee|cp|mv|install|shred|truncate|ln|rm|pv)$/.test(name);
}

/** `of=/dev/sda` means `/dev/sda`. What is read from a device harms nothing. */
function targetOf(word: string): string {
  return /^(?:[a-z]+|--[a-z-]+)=/.test(word) && !word.startsWith("if=") ? word.slice(word.indexOf("=") + 1) : word;
}

function isDevice(target: string): boolean {
  const plain = path.posix.normalize(target);
  return plain.startsWith("/dev/") && plain !== "/dev/" && !harmlessDevice.test(plain);
}

/** The system, a folder right below it, a home, the workspace, or what holds one of those; `/*` as well as `/`. */
function isTooMuch(word: string, cwd: string, { workspace, home, userHome }: CommandGround): boolean {
  const wild = word.search(/[*?[]/);
  const isAll = wild === -1 || /(?:^|\/)\.?$/.test(word.slice(0, wild));
  const target = path.resolve(cwd, wild === -1 ? word : word.slice(0, wild));
  const folder = isAll || target === "/" ? target : path.dirname(target);
  if (target.split("/").filter((name) => name !== "").length <= 1) return true;
  if (!isAll) return false;
  return [workspace, userHome, ...(home === undefined ? [] : [home])].some((kept) => isInside(folder, kept));
}

/** `:(){ :|:& };:`, and the like in Perl. */
function isForkBomb(command: string): boolean {
  const bare = command.replace(/\s+/g, "");
  if (/fork(?:\(\))?while(?:\()?(?:fork|1|true)/.test(bare) || /while(?:\()?(?:1|true)\)?[{:]?(?:os\.)?fork/.test(bare))
    return true;
  for (let at = bare.indexOf("(){"); at !== -1; at = bare.indexOf("(){", at + 1)) {
    const name = /[^;&|(){}]{1,60}$/.exec(bare.slice(Math.max(0, at - 60), at))?.[0].replace(/^function/, "");
    if (name !== undefined && name !== "" && bare.slice(at).includes(`${name}|${name}`)) return true;
  }
  return false;
}

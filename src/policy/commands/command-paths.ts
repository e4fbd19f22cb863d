import path from "node:path";
import { namesIn } from "./command-reach.js";
import { programName, readCommand } from "./harmful-commands.js";

/** What a command reads, as far as its words say. */
export interface CommandPaths {
  /** Files, and folders whose files it reads too. Absolute, with links in them. */
  readonly paths: readonly string[];
  /** It may go through links to folders. */
  readonly followsLinks: boolean;
  /** False where it may read more than its words name: a script, or what is put together only when it runs. */
  readonly isClear: boolean;
  /** It names more than anybody looks at, and not all of it is in `paths`. */
  readonly isTooMuch: boolean;
}

const mostPaths = 2000;

/** Programs that read the files that their words name, and no others. Not those that run or read what a file says. */
const plainPrograms: ReadonlySet<string> = new Set(
  `: [ test true false echo printf pwd cd mkdir rmdir touch cp mv rm ln chmod cat tac nl head tail less more wc sort uniq cut
  tr grep egrep fgrep rg ls dir find du df tree stat file basename dirname realpath readlink cmp diff comm paste join fold
  fmt column rev od xxd hexdump strings md5sum sha1sum sha256sum sha512sum cksum base64 base32 tee truncate split seq sleep
  date cal uname whoami id hostname uptime free ps kill which gzip gunzip zcat`
    .trim()
    .split(/\s+/),
);
/** They look into the folder that they are in when no other is named. */
const lookers: ReadonlySet<string> = new Set(["ls", "dir", "find", "du", "tree", "rg"]);
const recursive = /^(?:-[A-Za-z]*[rR]|--(?:deref-)?rec)/;
/** A file that holds the names of others, and programs that run others. */
const opener = /^--?(?:files0-from|files-from|exclude-from|exec|execdir|ok|okdir|pre|compress-program|filter)(?:=|$)/;
const links = /^-(?:[A-Za-z]*[RLHS]|-deref|-follow|follow)/;

/**
 * The paths that a command's words name. `home`: what `~` and `HOME` are to it. Reads words, and so knows nothing of a
 * program that an earlier command has put instead of another.
 */
export function pathsOfCommand(
  command: string,
  { cwd, workspace, home }: { readonly cwd: string; readonly workspace: string; readonly home: string },
): CommandPaths {
  const { parts, isClear: areClear } = readCommand(command, { cwd, workspace, userHome: home });
  // In a list or in brackets nobody knows which `cd` has held.
  const starts = new Set([cwd, ...parts.map((part) => part.cwd)]);
  const paths = new Set<string>();
  let isClear = areClear;
  let isTooMuch = false;
  let followsLinks = false;
  for (const { words, targets } of parts) {
    const [program = "", ...rest] = words;
    const name = programName(program);
    const isOpen = rest.some((word) => opener.test(word)) || (name === "cd" && rest.includes("-"));
    if ((program !== "" && !plainPrograms.has(program)) || isOpen) isClear = false;
    followsLinks ||= rest.some((word) => links.test(word) || isOfFolders(word));
    const looks = lookers.has(name) || rest.some((word) => recursive.test(word));
    const named = [...rest, ...targets, ...(looks ? ["."] : [])].flatMap(pathsIn);
    // The parent of a link is another folder than the one that it lies in.
    if (named.some(goesBack)) isClear = false;
    isTooMuch ||= paths.size + named.length * starts.size > mostPaths;
    if (isTooMuch) break;
    for (const one of named) for (const start of starts) paths.add(path.resolve(start, one));
  }
  return { paths: [...paths], followsLinks, isClear, isTooMuch };
}

/** A pattern for what lies in folders that it stands for. */
function isOfFolders(word: string): boolean {
  const wild = word.search(/[*?[]/);
  return wild !== -1 && word.includes("/", wild);
}

/** `a/..`, but not `../..`. */
function goesBack(name: string): boolean {
  const parts = name.split("/");
  return parts.some((part, at) => part === ".." && !["", ".", "..", undefined].includes(parts[at - 1]));
}

/** A word, and what in it may be a path; of a pattern the folder in which it looks. */
function pathsIn(word: string): readonly string[] {
  const values = word.startsWith("-") ? [word.slice(2), word.slice(word.indexOf("=") + 1)] : [word];
  return values.flatMap(namesIn).map((name) => {
    const wild = name.search(/[*?[]/);
    return wild === -1 ? name : name.slice(0, name.lastIndexOf("/", wild) + 1) || ".";
  });
}

import path from "node:path";
import { trimEndWhere } from "../../util/text/trim-where.js";
import { askingSentence } from "../../util/words/permission-sentences.js";
import { isInside } from "../locations/paths.js";
import type { Zones } from "../locations/zones.js";
import { type CommandGround, programName, readCommand } from "./harmful-commands.js";

/** Names of files that hold keys, wherever they lie. */
const secretName =
  /^(?:\.env(?:\..*)?|.*\.(?:pem|key|p12|pfx|kdbx|keystore|jks|asc|gpg)|id_(?:rsa|dsa|ecdsa|ed25519)(?:\..*)?|\.?netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|\.ssh|\.gnupg|\.aws|\.kube|\.docker|\.password-store|credentials(?:\..*)?|secrets?\.(?:json|ya?ml|toml|env)|shadow|authorized_keys)$/i;
/** What holds nothing of anybody: devices, and the programs of the system. */
const harmless =
  /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?s?bin\/[^/]+|\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd\/\d+))$/;
const interpreters =
  /^(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|osascript|rscript|julia|guile|awk|gawk|mawk)[\d.]*$/;

/**
 * Why a command without a sandbox is not run unasked where nobody is asked about commands as such: it names a secret or a
 * place outside of the workspace, or its words do not say what it names. A help and never complete: a script can do all that.
 */
export function reachOf(
  command: string,
  ground: CommandGround,
  scope: {
    readonly zones: Pick<Zones, "zoneOf" | "toReal">;
    /** The session's own. */
    readonly folder: string;
    readonly mayLeave: boolean;
  },
): string | undefined {
  const { parts, isClear } = readCommand(command, ground);
  if (!isClear) return askingSentence("unclear_command");
  for (const { words, targets, cwd } of parts) {
    const [program = "", ...rest] = words;
    if (
      interpreters.test(programName(program)) &&
      rest.some((word) => /^(?:-[A-Za-z]*[ceEpr]|--eval|--print)/.test(word))
    )
      return askingSentence("own_code");
    // The program itself is not a file that is read, unless it is one of the workspace's neighbours.
    const named = [...rest, ...targets, ".", ...(program.startsWith("/") || !program.includes("/") ? [] : [program])];
    for (const word of named)
      for (const name of namesIn(word)) {
        const reason = reasonOf(name, cwd, scope, ground);
        if (reason !== undefined) return reason;
      }
  }
  return undefined;
}

/** A word, and what in it may be a path: `--file=/etc/passwd`, `@notes.txt`, `a:/b`. */
export function namesIn(word: string): readonly string[] {
  const plain = word
    .split(/([\s'"]+)/)
    .map(withoutAddress)
    .join("")
    .replace(/\bfile:\/\//gi, " ");
  return [...new Set([plain.trim(), ...plain.split(/[=:@,'"()\s]+/)])].filter((name) => name !== "");
}

/** A piece without blanks, up to where an address in it begins; `file:` names a path. */
function withoutAddress(piece: string): string {
  const colon = piece.indexOf("://");
  const before = piece.slice(0, Math.max(colon, 0));
  const rest = trimEndWhere(before, (unit) => /[a-z0-9+.-]/i.test(unit));
  const scheme = before.slice(rest.length).toLowerCase();
  return colon === -1 || scheme === "" || scheme === "file" ? piece : `${rest} `;
}

function reasonOf(
  name: string,
  cwd: string,
  { zones, folder, mayLeave }: Parameters<typeof reachOf>[2],
  { workspace }: CommandGround,
): string | undefined {
  const wild = name.search(/[*?[]/);
  const plain = wild === -1 ? name : name.slice(0, wild);
  const target = zones.toReal(path.resolve(cwd, plain));
  if (harmless.test(target) || (name.startsWith("-") && !name.includes("/"))) return undefined;
  const zone = zones.zoneOf(target, folder);
  const isSecret = target.split("/").some((part) => secretName.test(part));
  if (zone === "private" || (isSecret && zone !== "own")) return askingSentence("reaches_secrets", { reason: name });
  if (zone === "hidden") return askingSentence("reaches_hidden", { reason: name });
  if (zone === "outside" && !mayLeave) return askingSentence("leaves_workspace", { reason: name });
  // All that lies below: what is hidden, too.
  const below = wild === -1 || plain === "" || plain.endsWith("/") ? target : path.dirname(target);
  if (zone === "workspace" && isInside(below, zones.toReal(workspace)) && !isInside(zones.toReal(folder), below))
    return askingSentence("whole_workspace", { reason: name });
  return /(?:^|\/)\.[^/.]*$/.test(plain) && wild !== -1 && zone !== "own"
    ? askingSentence("reaches", { reason: name })
    : undefined;
}

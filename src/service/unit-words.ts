import { ServiceError } from "./manager.js";

/*
 * How systemd reads what is in a unit (systemd.syntax(7), systemd.service(5) "Command lines"): words are separated by blanks,
 * C escapes hold inside of quotes, `%` begins a specifier everywhere, and `$` a variable in the arguments of a command.
 */

/** A word in quotes, for settings that take several. */
export function unitWord(text: string): string {
  return `"${specifiers(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** A command with its arguments. The program itself is not searched for variables. */
export function unitCommand([file, ...args]: readonly [string, ...string[]]): string {
  return [unitWord(file), ...args.map((arg) => unitWord(arg.replaceAll("$", "$$$$")))].join(" ");
}

/** What {@link unitWord} made, as it was. */
export function readUnitWord(word: string): string {
  return word.slice(1, -1).replaceAll(/\\(.)/g, "$1").replaceAll("%%", "%");
}

function specifiers(text: string): string {
  // A line end would begin another setting.
  if (/\p{Cc}/u.test(text))
    throw new ServiceError(
      `${JSON.stringify(text)} holds a control character, which cannot be in the file of a service.`,
      {
        kind: "refused",
      },
    );
  return text.replaceAll("%", "%%");
}

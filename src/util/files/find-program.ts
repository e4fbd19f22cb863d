import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { programEnvironment } from "../program-environment.js";

/** Of lists of which one program each is needed, those of which none can be started here; each as people read it. */
export function missingPrograms(needed: readonly (readonly string[])[]): readonly string[] {
  if (needed.length === 0) return [];
  const folders = (programEnvironment().PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const isThere = (name: string): boolean => folders.some((folder) => isProgram(path.join(folder, name)));
  return needed.filter((names) => !names.some(isThere)).map((names) => `the program ${names.join(" or ")}`);
}

function isProgram(full: string): boolean {
  // Windows knows a program by the end of its name.
  return (process.platform === "win32" ? ["", ".exe", ".cmd", ".bat"] : [""]).some((end) => {
    try {
      accessSync(`${full}${end}`, constants.X_OK);
      return statSync(`${full}${end}`).isFile();
    } catch {
      return false;
    }
  });
}

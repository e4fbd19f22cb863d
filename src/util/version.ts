import { ownPackage } from "./package-folder.js";

/** The version in the package.json above this file. */
export function readVersion(): string {
  return ownPackage().version;
}

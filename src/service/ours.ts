import { mark, ServiceError } from "./manager.js";

/** What is written down at `file`: its text, and the home in it where it is ours. */
export interface Written {
  readonly file: string;
  readonly text: string | undefined;
  readonly home: string | undefined;
}

/** @throws {ServiceError} where a service of another home, or one that we did not write, would be replaced */
export function assertReplaceable({ file, text, home }: Written, wanted: string): void {
  if (text === undefined || home === wanted) return;
  const whose = home === undefined ? "was not written by maxclaw" : `runs the gateway of ${home}`;
  throw refused(`${file} ${whose}. Choose another name with --name, or replace it with --force.`);
}

/** @throws {ServiceError} where there is none, or one that we did not write */
export function assertRemovable({ file, text }: Pick<Written, "file" | "text">): void {
  if (text === undefined) throw notInstalled(file);
  if (!text.includes(mark))
    throw refused(`${file} was not written by maxclaw, so it is not removed. Remove it yourself.`);
}

export function notInstalled(file: string): ServiceError {
  return refused(`The service is not installed: there is no ${file}. Install it with: maxclaw service install`);
}

export function refused(message: string): ServiceError {
  return new ServiceError(message, { kind: "refused" });
}

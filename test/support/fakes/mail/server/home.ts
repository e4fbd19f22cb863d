import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Programs } from "./programs.js";

/** The folder of the mail servers, with the certificate that both show, and what runs in it. */
export class MailHome {
  readonly folder = mkdtempSync(join(tmpdir(), "maxclaw-mail-"));
  readonly owner = findOwner();
  readonly programs = new Programs(this.folder, this.owner.ids ?? {});

  constructor() {
    this.#give(this.folder);
    chmodSync(this.folder, 0o755);
    this.makeFolder("mail");
    this.programs.run("openssl", [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
    ]);
  }

  path(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }

  /** In which the servers may write. */
  makeFolder(...parts: readonly string[]): void {
    mkdirSync(this.path(...parts), { recursive: true });
    this.#give(this.path(...parts));
  }

  async remove(): Promise<void> {
    await this.programs.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #give(path: string): void {
    const { ids } = this.owner;
    if (ids !== undefined) chownSync(path, ids.uid, ids.gid);
  }
}

/** Who the servers run as. `ids`: where that is not us. */
function findOwner() {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? "nobody" : execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
  const uid = Number(execFileSync("id", ["-u", user], { encoding: "utf8" }));
  const gid = Number(execFileSync("id", ["-g", user], { encoding: "utf8" }));
  const group = execFileSync("id", ["-gn", user], { encoding: "utf8" }).trim();
  return { user, group, ids: isRoot ? { uid, gid } : undefined };
}

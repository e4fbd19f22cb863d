import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../engine/engine-kit.js";
import { dovecotConfig, eximConfig, type MailPlace } from "./server/configs.js";
import { MailHome } from "./server/home.js";
import { answers, freePorts } from "./server/ports.js";
import { findProgram } from "./server/programs.js";

const files = ["dovecot", "exim4", "openssl"];
export const mailDomain = "maxclaw.test";
const password = "secret-word";

/** For a test's `skip`: why it cannot run on this machine. */
export function withoutMailServer(): string | false {
  return (
    files.some((file) => findProgram(file) === undefined) &&
    "needs Dovecot and Exim (Debian: apt-get install dovecot-imapd exim4-daemon-light)"
  );
}

/** Somebody else may take one of its ports before it has it: then it is started once more. */
export async function startMailServer(): Promise<MailServer> {
  try {
    return await startOnFreePorts();
  } catch {
    return await startOnFreePorts();
  }
}

async function startOnFreePorts(): Promise<MailServer> {
  const home = new MailHome();
  const [imap = 0, imaps = 0, smtp = 0] = await freePorts(3);
  const server = new MailServer(home, { imap, imaps, smtp });
  try {
    await server.start();
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

interface Ports {
  readonly imap: number;
  readonly imaps: number;
  readonly smtp: number;
}

/** Dovecot and Exim on loopback, with mailboxes in a temp folder: anyone who logs in or is written to has one. */
export class MailServer implements AsyncDisposable {
  readonly domain = mailDomain;
  readonly password = password;
  /** STARTTLS is offered there. */
  readonly imapPort: number;
  readonly imapsPort: number;
  /** STARTTLS and logins are offered there. */
  readonly smtpPort: number;
  /** The certificate that both show. */
  readonly caFile: string;
  readonly #ports: Ports;
  readonly #home: MailHome;

  constructor(home: MailHome, ports: Ports) {
    this.#home = home;
    this.#ports = ports;
    ({ imap: this.imapPort, imaps: this.imapsPort, smtp: this.smtpPort } = ports);
    this.caFile = home.path("cert.pem");
  }

  async start(): Promise<void> {
    const { folder, owner, programs } = this.#home;
    const place: MailPlace = { folder, user: owner.user, group: owner.group, domain: mailDomain, password };
    writeFileSync(this.#home.path("dovecot.conf"), dovecotConfig(place, this.#ports));
    writeFileSync(this.#home.path("exim.conf"), eximConfig(place));
    // Without its set-user-id bit it dies with us, and never gains a right.
    const exim = this.#home.path("exim");
    copyFileSync(findProgram("exim4") ?? "", exim);
    chmodSync(exim, 0o755);
    programs.start(findProgram("dovecot") ?? "", ["-F", "-c", this.#home.path("dovecot.conf")]);
    programs.start(exim, ["-C", this.#home.path("exim.conf"), "-bdf", "-oX", `127.0.0.1.${this.smtpPort}`]);
    await until("the mail servers answer", () => this.#answers(), 60_000);
  }

  /** From now on what an owner of a mailbox sends is put into their folder `Sent` by the server. */
  fileSent(isOn: boolean): void {
    if (isOn) writeFileSync(this.#home.path("file-sent"), "");
    else rmSync(this.#home.path("file-sent"), { force: true });
  }

  /** Makes a mailbox for mail that others send to it; who logs in has one anyway. Returns the address. */
  addBox(localPart: string): string {
    this.#home.makeFolder("mail", localPart);
    return `${localPart}@${mailDomain}`;
  }

  /** The folder of somebody's mail. */
  maildir(localPart: string): string {
    return this.#home.path("mail", localPart, "Maildir");
  }

  /** Makes the server renumber the mails of a mailbox. */
  renumber(localPart: string): void {
    const inbox = this.maildir(localPart);
    const list = join(inbox, "dovecot-uidlist");
    const [head = "", ...rest] = readFileSync(list, "utf8").split("\n");
    const validity = /V(\d+)/.exec(head)?.[1] ?? "0";
    const mails = rest.map((line) => line.replace(/^\d+ /, ""));
    const renumbered = mails.flatMap((line, index) => (line === "" ? [] : [`${index + 101} ${line}`]));
    for (const name of ["dovecot.index", "dovecot.index.log", "dovecot.index.cache"])
      rmSync(join(inbox, name), { force: true });
    const newHead = head.replace(/V\d+/, `V${Number(validity) + 7}`).replace(/N\d+/, `N${renumbered.length + 101}`);
    writeFileSync(list, [newHead, ...renumbered, ""].join("\n"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home.remove();
  }

  async #answers(): Promise<boolean> {
    this.#home.programs.assertRunning();
    return (
      (await answers(this.imapPort, /^\* OK/)) &&
      (await answers(this.imapsPort, undefined)) &&
      (await answers(this.smtpPort, /^220 /))
    );
  }
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { until } from "../../engine/engine-kit.js";

/** Dovecot and Exim on loopback, with mailboxes in a temp folder: whoever logs in or is written to has one. */
export interface MailServer extends AsyncDisposable {
  readonly domain: string;
  readonly password: string;
  /** STARTTLS is offered there. */
  readonly imapPort: number;
  readonly imapsPort: number;
  /** STARTTLS and logins are offered there. */
  readonly smtpPort: number;
  /** The certificate that both show. */
  readonly caFile: string;
  /** From now on what an owner of a mailbox sends is put into their folder `Sent` by the server. */
  fileSent(isOn: boolean): void;
  /** Makes a mailbox for mail that others send to it; who logs in has one anyway. Returns the address. */
  addBox(localPart: string): string;
  /** The folder of somebody's mail. */
  maildir(localPart: string): string;
  /** Makes the server number the mails of a mailbox anew. */
  renumber(localPart: string): void;
}

const files = ["dovecot", "exim4", "openssl"];
export const mailDomain = "maxclaw.test";
const password = "secret-word";

/** For a test's `skip`: why it cannot run on this machine. */
export function withoutMailServer(): string | false {
  return (
    files.some((file) => find(file) === undefined) &&
    "needs Dovecot and Exim (Debian: apt-get install dovecot-imapd exim4-daemon-light)"
  );
}

export async function startMailServer(): Promise<MailServer> {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-mail-"));
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? "nobody" : execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
  const uid = Number(execFileSync("id", ["-u", user], { encoding: "utf8" }));
  const gid = Number(execFileSync("id", ["-g", user], { encoding: "utf8" }));
  const group = execFileSync("id", ["-gn", user], { encoding: "utf8" }).trim();
  const ids = isRoot ? { uid, gid } : {};
  if (isRoot) chownSync(folder, uid, gid);
  chmodSync(folder, 0o755);
  const run = (file: string, args: readonly string[]): void => {
    execFileSync(find(file) ?? file, args, { cwd: folder, stdio: "pipe", timeout: 30_000, ...ids });
  };
  run("openssl", [
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
  ]);
  const [imapPort = 0, imapsPort = 0, smtpPort = 0] = await freePorts(3);
  writeFileSync(join(folder, "dovecot.conf"), dovecotConfig(folder, user, group, imapPort, imapsPort));
  writeFileSync(join(folder, "exim.conf"), eximConfig(folder, user, group));
  // Without its set-user-id bit it dies with us, and never gains a right.
  const exim = join(folder, "exim");
  copyFileSync(find("exim4") ?? "", exim);
  chmodSync(exim, 0o755);
  mkdirSync(join(folder, "mail"));
  if (isRoot) chownSync(join(folder, "mail"), uid, gid);

  const children: ChildProcess[] = [];
  let said = "";
  const launch = (file: string, args: readonly string[]): void => {
    const [program, all] = dyingWithUs(file, args);
    const env = { PATH: process.env.PATH ?? "", LC_ALL: "C" };
    const child = spawn(program, all, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], env, ...ids });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-4000);
      });
    children.push(child);
  };
  launch(find("dovecot") ?? "", ["-F", "-c", join(folder, "dovecot.conf")]);
  launch(exim, ["-C", join(folder, "exim.conf"), "-bdf", "-oX", `127.0.0.1.${smtpPort}`]);
  const stop = async (): Promise<void> => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 2000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await until(
      "the mail servers answer",
      async () => {
        if (children.some(({ exitCode }) => exitCode !== null)) throw new Error(`a mail server ended:\n${said}`);
        return (
          (await answers(imapPort, /^\* OK/)) &&
          (await answers(imapsPort, undefined)) &&
          (await answers(smtpPort, /^220 /))
        );
      },
      15_000,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const maildir = (localPart: string): string => join(folder, "mail", localPart, "Maildir");
  const fileSentFlag = join(folder, "file-sent");
  return {
    domain: mailDomain,
    password,
    imapPort,
    imapsPort,
    smtpPort,
    caFile: join(folder, "cert.pem"),
    maildir,
    addBox(localPart) {
      const home = join(folder, "mail", localPart);
      mkdirSync(home, { recursive: true });
      if (isRoot) chownSync(home, uid, gid);
      return `${localPart}@${mailDomain}`;
    },
    fileSent(isOn) {
      if (isOn) writeFileSync(fileSentFlag, "");
      else rmSync(fileSentFlag, { force: true });
    },
    renumber(localPart) {
      const inbox = maildir(localPart);
      const list = join(inbox, "dovecot-uidlist");
      const [head = "", ...rest] = readFileSync(list, "utf8").split("\n");
      const validity = /V(\d+)/.exec(head)?.[1] ?? "0";
      const mails = rest.map((line) => line.replace(/^\d+ /, ""));
      const renumbered = mails.flatMap((line, index) => (line === "" ? [] : [`${index + 101} ${line}`]));
      for (const name of ["dovecot.index", "dovecot.index.log", "dovecot.index.cache"])
        rmSync(join(inbox, name), { force: true });
      const newHead = head.replace(/V\d+/, `V${Number(validity) + 7}`).replace(/N\d+/, `N${renumbered.length + 101}`);
      writeFileSync(list, [newHead, ...renumbered, ""].join("\n"));
    },
    [Symbol.asyncDispose]: stop,
  };
}

function dovecotConfig(folder: string, user: string, group: string, imapPort: number, imapsPort: number): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:${folder}/mail/%n/Maildir
mail_uid = ${user}
mail_gid = ${group}
auth_mechanisms = plain login xoauth2
auth_failure_delay = 0
disable_plaintext_auth = no
auth_cache_size = 0
mail_max_userip_connections = 100
default_client_limit = 3000
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${user} gid=${group} home=${folder}/mail/%n
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    auto = subscribe
    special_use = \\Sent
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  process_min_avail = 1
  service_count = 0
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = ${imapsPort}
    ssl = yes
  }
}
service imap {
  process_min_avail = 1
  service_count = 50
}
`;
}

function eximConfig(folder: string, user: string, group: string): string {
  return `
primary_hostname = localhost
exim_user = ${user}
exim_group = ${group}
deliver_drop_privilege = true
spool_directory = ${folder}/spool
log_file_path = ${folder}/exim-%slog
pid_file_path = ${folder}/exim.pid
keep_environment =
domainlist local = ${mailDomain}
acl_smtp_rcpt = check_rcpt
acl_smtp_data = check_data
tls_advertise_hosts = *
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
message_size_limit = 50M
rfc1413_query_timeout = 0s
host_lookup =
smtp_accept_max = 50
queue_run_max = 2
never_users =

begin acl
check_rcpt:
  deny    message = no such person
          condition = \${if match{$local_part}{^nobody}}
  defer   message = greylisted, try again in 1 seconds
          condition = \${if match{$local_part}{^busy}}
  accept  authenticated = *
  accept  domains = +local
  deny    message = relay not permitted
check_data:
  accept

begin routers
sent:
  driver = accept
  unseen
  condition = \${if exists{${folder}/file-sent}}
  condition = \${if def:authenticated_id}
  transport = sent
inbox:
  driver = accept
  domains = +local
  local_parts = dsearch;${folder}/mail
  transport = inbox

begin transports
inbox:
  driver = appendfile
  directory = ${folder}/mail/$local_part_data/Maildir
  maildir_format
  delivery_date_add
  return_path_add
  create_directory
sent:
  driver = appendfile
  directory = ${folder}/mail/\${lookup{\${local_part:$sender_address}}dsearch{${folder}/mail}}/Maildir/.Sent
  maildir_format
  create_directory

begin retry
* * F,1h,1m

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if eq{$auth3}{${password}}}
  server_set_id = $auth2
login:
  driver = plaintext
  public_name = LOGIN
  server_prompts = Username:: : Password::
  server_condition = \${if eq{$auth2}{${password}}}
  server_set_id = $auth1
xoauth2:
  driver = plaintext
  public_name = XOAUTH2
  server_prompts = :
  server_condition = \${if match{$auth1}{auth=Bearer ${password}}}
  server_set_id = token
`;
}

async function answers(port: number, greeting: RegExp | undefined): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(2000, () => end(false));
    socket.once("error", () => end(false));
    if (greeting === undefined) socket.once("connect", () => end(true));
    else socket.once("data", (chunk) => end(greeting.test(chunk.toString())));
  });
}

/** On Linux a server ends with the test that started it, however that ends. */
function dyingWithUs(file: string, args: readonly string[]): readonly [string, readonly string[]] {
  const setpriv = find("setpriv");
  return process.platform !== "linux" || setpriv === undefined
    ? [file, args]
    : [setpriv, ["--pdeathsig", "SIGKILL", file, ...args]];
}

function find(file: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, file)).find((path) => existsSync(path));
}

/** Ports that nobody has at this moment. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../engine/engine-kit.js";
import { answers, freePorts } from "../mail/server/ports.js";
import { dyingWithUs, findProgram } from "../mail/server/programs.js";

export const xmppDomain = "maxclaw.test";
export const roomDomain = `rooms.${xmppDomain}`;
/** Of everybody. */
export const xmppPassword = "secret-word";

/** For a test's `skip`: why it cannot run on this machine. */
export function withoutProsody(): string | false {
  return findProgram("prosody") === undefined && "needs Prosody (Debian: apt-get install prosody)";
}

export interface ProsodyOptions {
  /** Modules of a usual server that this one has not. */
  readonly without?: readonly ("mam" | "smacks" | "http_file_share" | "carbons")[];
  /** Only with TLS. */
  readonly needsTls?: boolean;
}

/** A real XMPP server on loopback, in a temp folder. */
export class Prosody implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "maxclaw-xmpp-"));
  readonly port: number;
  readonly tlsPort: number;
  readonly httpPort: number;
  readonly #options: ProsodyOptions;
  #child: ChildProcess | undefined;

  constructor(ports: readonly [number, number, number], options: ProsodyOptions) {
    [this.port, this.tlsPort, this.httpPort] = ports;
    this.#options = options;
  }

  static async start(options: ProsodyOptions = {}): Promise<Prosody> {
    const [port = 0, tls = 0, http = 0] = await freePorts(3);
    const server = new Prosody([port, tls, http], options);
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
        ...["-subj", `/CN=${xmppDomain}`, "-addext", `subjectAltName=DNS:${xmppDomain}`],
        ...["-keyout", join(server.folder, "key.pem"), "-out", join(server.folder, "cert.pem")],
      ],
      { stdio: "pipe" },
    );
    await server.run();
    return server;
  }

  get certificate(): string {
    return readFileSync(join(this.folder, "cert.pem"), "utf8");
  }

  get log(): string {
    return readFileSync(join(this.folder, "prosody.log"), "utf8");
  }

  /** Starts it, again after a kill with the same data. */
  async run(): Promise<void> {
    const config = join(this.folder, "prosody.cfg.lua");
    writeFileSync(config, this.#config());
    const [program, args] = dyingWithUs(findProgram("prosody") ?? "", ["--config", config, "-F"]);
    this.#child = spawn(program, args, { cwd: this.folder, stdio: "ignore" });
    await until("Prosody answers", () => answers(this.port, undefined), 30_000);
  }

  /** As when the machine loses its power. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  /** It stands still, with its connections open, until it is let go. */
  freeze(isOn: boolean): void {
    this.#child?.kill(isOn ? "SIGSTOP" : "SIGCONT");
  }

  /** Makes an account. Returns its address. */
  addAccount(name: string): string {
    const folder = join(this.folder, "data", xmppDomain.replace(".", "%2e"), "accounts");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.dat`), `return { ["password"] = "${xmppPassword}"; };\n`);
    return `${name}@${xmppDomain}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #config(): string {
    const { without = [], needsTls = false } = this.#options;
    const modules = ["roster", "saslauth", "tls", "disco", "presence", "message", "iq", "ping", "offline", "websocket"];
    const more = ["mam", "smacks", "http_file_share", "carbons"] as const;
    const all = [...modules, ...more.filter((name) => !without.includes(name))];
    const rooms = without.includes("mam") ? "" : `modules_enabled = { "muc_mam" }`;
    return `
run_as_root = true
pidfile = "${this.folder}/prosody.pid"
data_path = "${this.folder}/data"
log = { info = "${this.folder}/prosody.log" }
interfaces = { "127.0.0.1" }
c2s_ports = { ${this.port} }
c2s_direct_tls_ports = { ${this.tlsPort} }
s2s_ports = {}
http_interfaces = { "127.0.0.1" }
http_ports = { ${this.httpPort} }
https_ports = {}
c2s_require_encryption = ${needsTls}
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
storage = "internal"
archive_expires_after = "never"
ssl = { certificate = "${this.folder}/cert.pem"; key = "${this.folder}/key.pem"; }
modules_enabled = { ${all.map((name) => `"${name}"`).join("; ")} }
modules_disabled = { "s2s" }
http_file_share_size_limit = 20*1024*1024

VirtualHost "${xmppDomain}"
  http_host = "127.0.0.1"
  http_external_url = "http://127.0.0.1:${this.httpPort}/"

Component "${roomDomain}" "muc"
  muc_log_by_default = true
  muc_log_expires_after = "never"
  muc_room_locking = false
  muc_room_default_public_jids = true
  ${rooms}
`;
  }
}

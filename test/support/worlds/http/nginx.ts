import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../fakes/network/free-port.js";
import { findNginx } from "../needs.js";
import { until } from "./http-server.js";

/** A real nginx in front of a gateway. Each address ends with the base path and a slash. */
export interface Nginx extends AsyncDisposable {
  /** With TLS; paths are passed on as they are. */
  readonly whole: string;
  /** With TLS; the base path is taken away. */
  readonly stripped: string;
  /** Without TLS. */
  readonly plain: string;
  /** What it has written down about requests. */
  log(): Promise<string>;
}

/** As docs/proxy.md shows it. */
const passOn = `
  proxy_http_version 1.1;
  proxy_set_header Host $http_host;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $connection_upgrade;
  proxy_read_timeout 1h;
  client_max_body_size 25m;`;

/** @param host the name that the browser has for it */
export async function startNginx(gateway: string, basePath: string, host: string): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-nginx-"));
  const [whole, stripped, plain] = [await freePort(), await freePort(), await freePort()];
  const names = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", ...names], {
    stdio: "pipe",
  });
  const server = (listen: string): string => `server {
    listen 127.0.0.1:${listen};
    location = ${basePath} { proxy_pass ${gateway}; ${passOn} }
    location ${basePath}/ { proxy_pass ${gateway}; ${passOn} }
  }`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log ${folder}/access.log;
  ${temporary.join("\n  ")}
  ssl_certificate ${folder}/cert.pem;
  ssl_certificate_key ${folder}/key.pem;
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  ${server(`${whole} ssl`)}
  ${server(`${plain}`)}
  server {
    listen 127.0.0.1:${stripped} ssl;
    location = ${basePath} { return 308 ${basePath}/; }
    location ${basePath}/ { proxy_pass ${gateway}/; ${passOn} }
  }
}
`;
  await writeFile(join(folder, "nginx.conf"), config);
  const child = spawn(findNginx() ?? "nginx", ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const ended = once(child, "exit");
  let isThere = false;
  const look = (): void => {
    const socket = connect(plain, "127.0.0.1", () => {
      isThere = true;
      socket.destroy();
    });
    socket.on("error", () => setTimeout(look, 20));
  };
  look();
  await until(() => isThere || child.exitCode !== null, `nginx: ${said}`);
  if (!isThere) throw new Error(`nginx did not start: ${said}`);
  return {
    whole: `https://${host}:${whole}${basePath}/`,
    stripped: `https://${host}:${stripped}${basePath}/`,
    plain: `http://${host}:${plain}${basePath}/`,
    log: () => readFile(join(folder, "access.log"), "utf8"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

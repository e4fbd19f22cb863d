import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { projectFile } from "../../support/project.js";

async function linesOf(path: string): Promise<readonly string[]> {
  return (await readFile(projectFile(path), "utf8")).split("\n").map((line) => line.trim());
}

describe("the systemd unit", () => {
  it("comes back after every end but a wrong config, and stops in its own time", async () => {
    const lines = await linesOf("scripts/maxclaw.service");
    for (const line of [
      "Restart=always",
      "RestartSec=5",
      "RestartPreventExitStatus=2 65 78",
      "SuccessExitStatus=130 143",
      "TimeoutStopSec=20",
    ])
      assert.ok(lines.includes(line), line);
    assert.ok(lines.some((line) => /^ExecStart=.*"maxclaw" "gateway"$/.test(line)));
  });

  it("runs as its own user and breaks neither the JavaScript compiler nor sandboxes", async () => {
    const lines = await linesOf("scripts/maxclaw.service");
    assert.ok(lines.includes("User=maxclaw"));
    for (const line of ["NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateTmp=yes", "UMask=0077"])
      assert.ok(lines.includes(line), line);
    for (const setting of [
      "MemoryDenyWriteExecute",
      "RestrictNamespaces",
      "ProtectProc",
      "ProtectKernelTunables",
      "PrivateUsers",
    ])
      assert.ok(!lines.some((line) => line.startsWith(`${setting}=`)), setting);
    const home = lines
      .find((line) => line.startsWith('Environment="MAXCLAW_HOME='))
      ?.match(/MAXCLAW_HOME=(\/var\/lib\/[^"]+)/)?.[1];
    assert.ok(lines.includes(`ReadWritePaths="${home}"`), "the home is writable");
  });
});

describe("the container image", () => {
  it("runs a built program as a user without rights, with its home in a volume", async () => {
    const lines = await linesOf("Dockerfile");
    assert.equal(lines.filter((line) => /^FROM node:24-slim\b/.test(line)).length, 2);
    for (const line of ["RUN npm ci", "USER node", "VOLUME /data"]) assert.ok(lines.includes(line), line);
    assert.ok(lines.some((line) => line.startsWith("ENV") && line.includes("MAXCLAW_HOME=/data")));
    assert.ok(lines.indexOf("USER node") > lines.lastIndexOf("FROM node:24-slim"));
    assert.ok(lines.findIndex((line) => line.includes("chown node:node /data")) < lines.indexOf("VOLUME /data"));
    assert.ok(lines.some((line) => line.startsWith("#") && line.includes("MAXCLAW_TOKEN")));
  });

  it("holds the package as it is packed, and nothing else of the sources", async () => {
    const text = await readFile(projectFile("Dockerfile"), "utf8");
    const [build = "", image = ""] = text.split(/^FROM /m).slice(1);
    assert.match(build, /npm install --global --prefix \/opt\/maxclaw --omit=dev --ignore-scripts \S+\.tgz$/m);
    assert.deepEqual(image.match(/^COPY .*$/gm), ["COPY --from=build /opt/maxclaw /opt/maxclaw"]);
    assert.match(image, /ln -s \/opt\/maxclaw\/bin\/maxclaw \/usr\/local\/bin\/maxclaw/);
  });

  it("is asked for its health with a command that works", async () => {
    const text = await readFile(projectFile("Dockerfile"), "utf8");
    const command = /HEALTHCHECK[^\n]*\\\n\s*CMD (\[.*\])/.exec(text)?.[1] ?? "";
    const [program, flag, script]: string[] = JSON.parse(command);
    assert.deepEqual([program, flag], ["node", "-e"]);
    assert.match(script ?? "", /127\.0\.0\.1:18890\/health/);
    assert.doesNotThrow(() => new Function(script ?? ""));
    const start: string[] = JSON.parse(/\nCMD (\[.*\])/.exec(text)?.[1] ?? "[]");
    assert.deepEqual(start, ["maxclaw", "gateway", "--host", "0.0.0.0", "-p", "18890"]);
  });

  it("leaves out of the build what may hold secrets or is built again", async () => {
    const lines = await linesOf(".dockerignore");
    for (const line of [".git", ".maxclaw", "node_modules", "dist", "secrets.json"])
      assert.ok(lines.includes(line), line);
  });
});

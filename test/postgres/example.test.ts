import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/load.js";
import { currentName, packagesFolder } from "../../src/util/packages/folder.js";
import { until } from "../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { freePort } from "../support/fakes/network/free-port.js";
import { startClusterWorld } from "../support/postgres/cluster.js";
import { startNode } from "../support/postgres/daemons.js";
import { projectFile } from "../support/project.js";
import { findNginx, withoutNginx } from "../support/worlds/needs.js";

const read = (name: string): string => readFileSync(projectFile(join("examples/cluster", name)), "utf8");
const token = "a-long-token-0123456789";
/** While one gateway after the other is restarted, no message takes longer. */
const slowestMs = 2000;

/** The proxy of the example, with these addresses in place of the names of containers. */
async function startProxy(gateways: readonly number[]): Promise<{ readonly url: string } & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-nginx-"));
  const port = await freePort();
  const more = gateways
    .slice(2)
    .map((_, index) => `  server maxclaw-${index + 3}:18890 max_fails=1 fail_timeout=2s;\n`);
  let site = read("nginx.conf").replace("listen 8080;", `listen 127.0.0.1:${port};`);
  site = site.replace(/( {2}server maxclaw-2:.*\n)/, `$1${more.join("")}`);
  for (const [index, gateway] of gateways.entries())
    site = site.replace(`maxclaw-${index + 1}:18890`, `127.0.0.1:${gateway}`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((n) => `${n}_temp_path ${folder}/${n};`);
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http { access_log off; ${temporary.join(" ")}
${site} }`,
  );
  const args = ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")];
  const child = spawn(findNginx() ?? "nginx", args, { stdio: "ignore" });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  await until("nginx answers", () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe("the example of a cluster", { timeout: 120_000 }, () => {
  test("its config is right, and its files name what there is", async () => {
    const configPath = projectFile("examples/cluster/config.json");
    const { problems, config } = await loadConfig({
      home: "/nonexistent",
      configPath,
      env: { PGPASSWORD: "pg-secret-0123", MAXCLAW_TOKEN: token },
    });
    assert.deepEqual(problems, []);
    assert.equal(config.engine.kind, "postgres");
    const compose = parse(read("compose.yaml"), { merge: true });
    const [one, two] = [compose.services["maxclaw-1"], compose.services["maxclaw-2"]];
    const mounted = `/data/${packagesFolder}/${currentName}`;
    for (const service of [one, two]) {
      assert.ok(String(service.command).includes(mounted) && String(service.healthcheck.test).includes("/ready"));
      assert.ok(service.volumes.includes(`workspace:${config.agents.defaults.workspace}`));
    }
    assert.notEqual(one.volumes[0], two.volumes[0], "each has a home of its own");
    const pieces = parseAllDocuments(read("kubernetes.yaml")).map((each) => each.toJS());
    const { template, replicas } = pieces.find(({ kind }) => kind === "StatefulSet").spec;
    const [container] = template.spec.containers;
    assert.ok(replicas >= 2);
    assert.equal(container.livenessProbe.httpGet.path, "/health");
    assert.equal(container.readinessProbe.httpGet.path, "/ready");
    const [, seconds] = container.lifecycle.preStop.exec.command;
    const grace = container.command[container.command.indexOf("--grace") + 1];
    assert.ok(Number(seconds) + Number(grace) < template.spec.terminationGracePeriodSeconds);
    assert.equal(pieces.find(({ kind }) => kind === "PodDisruptionBudget").spec.maxUnavailable, 1);
  });

  test("runs as processes: gateways behind nginx are restarted one after the other, and no message is slow or lost", {
    skip: withoutNginx(),
  }, async () => {
    await using world = await startClusterWorld();
    await using model = await startFakeOpenAI({ answer: ({ userText }) => ({ text: `answer to ${userText}` }) });
    const cluster = await world.cluster();
    const ports = [await freePort(), await freePort(), await freePort()];
    const start = async (index: number, home?: string) =>
      await startNode({
        ...{ name: `n${index}`, cluster, apiBase: model.apiBase, home },
        args: ["-p", `${ports[index]}`, "--grace", "5"],
        more: { gateway: { token, trustedProxies: ["127.0.0.1"] } },
      });
    const nodes = [await start(0), await start(1), await start(2)];
    try {
      await using proxy = await startProxy(ports);
      const talk = new Talk(proxy.url);
      await talk.say(4);
      // The first answers of two fresh processes: on a machine that is busy they take longer, and so does all else.
      const limitMs = Math.max(slowestMs, 2 * Math.max(...talk.times));
      for (const index of nodes.keys()) {
        const node = nodes[index];
        assert.ok(node !== undefined);
        const ended = node.daemon.end("SIGTERM");
        while (!(await isSettled(ended))) await talk.say(1);
        assert.equal(await ended, 0);
        const again = start(index, node.home);
        while (!(await isSettled(again))) await talk.say(1);
        nodes[index] = await again;
        await talk.say(4);
      }
      assert.ok(talk.times.length > 15, `${talk.times.length} messages`);
      assert.ok(Math.max(...talk.times) <= limitMs, `the slowest took ${Math.max(...talk.times)} ms`);
    } finally {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    }
  });
});

/** One message after the other, each in one of four chats, as somebody behind the proxy. */
class Talk {
  readonly times: number[] = [];
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async say(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const number = this.times.length;
      const content = `number ${number} of this`;
      const beganAt = performance.now();
      const post = (): Promise<Response> =>
        fetch(`${this.#url}/api/message`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
          body: JSON.stringify({ sessionKey: `webui:c${number % 4}`, content, messageId: `msg_number_${number}` }),
        });
      let response = await post();
      // As the page does, under the same id: for a moment nginx may take both gateways for gone.
      for (let tries = 0; response.status === 502 && tries < 50; tries += 1) {
        await setTimeout(100);
        response = await post();
      }
      const text = await response.text();
      assert.equal(response.status, 200, `${number}: ${text}`);
      assert.match(text, new RegExp(content));
      this.times.push(performance.now() - beganAt);
    }
  }
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return await Promise.race([promise.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))]);
}

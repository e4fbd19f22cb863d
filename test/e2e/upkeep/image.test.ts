import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openContainerSteps } from "../../support/image/container-steps.js";
import {
  commandIn,
  type Instruction,
  readDockerfile,
  type Stage,
  variablesIn,
} from "../../support/image/dockerfile.js";
import { projectFile } from "../../support/project.js";
import { withoutSandbox } from "../../support/worlds/needs.js";

async function stagesOf(path: string): Promise<readonly Stage[]> {
  return readDockerfile(await readFile(projectFile(path), "utf8"));
}

function stepOf({ steps }: Stage, name: string): Instruction {
  const step = steps.find((instruction) => instruction.name === name);
  assert.ok(step, `there is no ${name}`);
  return step;
}

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");

/** Starts `command`, asks `health` until it is well, and stops it; the exit code is that of the gateway. */
const untilHealthy = (command: string, health: string): string =>
  `${command} & pid=$!
n=0; until ${health}; do n=$((n + 1)); if [ $n -gt 200 ] || ! kill -0 $pid; then wait $pid; exit 99; fi; done
id -u; touch /x 2>/dev/null && echo writable; kill -TERM $pid; wait $pid`;

test("the image's last stage installs what its build arguments say", { skip: withoutSandbox() }, async () => {
  const [build, last] = await stagesOf("Dockerfile");
  assert.ok(build && last);
  assert.equal(build.name, "build");
  await using image = await openContainerSteps();
  const { text: shell } = stepOf(last, "RUN");
  const args = Object.fromEntries(
    last.steps.filter(({ name }) => name === "ARG").map(({ text }) => text.split("=") as [string, string]),
  );
  assert.deepEqual(args, { BUBBLEWRAP: "1", CHROMIUM: "0" });
  const installed = async (given: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    // The folder for data is made on a file system that is gone afterwards.
    const noted = await image.build(shell, { ...args, ...given });
    assert.equal(noted[0], "apt-get update");
    assert.equal(noted.at(-1), "chown node:node /data");
    return noted.flatMap((line) => /^apt-get install -y --no-install-recommends (\S+)$/.exec(line)?.[1] ?? []);
  };
  const always = ["ca-certificates", "tzdata"];
  assert.deepEqual(await installed({}), [...always, "bubblewrap"]);
  assert.deepEqual(await installed({ BUBBLEWRAP: "0" }), always);
  const all = await installed({ CHROMIUM: "1" });
  assert.deepEqual(all.slice(0, 4), [...always, "bubblewrap", "chromium"]);
});

test("the image starts as a user without rights on a root that cannot be written, and is healthy", {
  skip: withoutSandbox(),
}, async () => {
  const last = (await stagesOf("Dockerfile")).at(-1);
  assert.ok(last);
  await using image = await openContainerSteps();
  await image.build(stepOf(last, "RUN").text, { BUBBLEWRAP: "1", CHROMIUM: "0" });
  const env = variablesIn(stepOf(last, "ENV"));
  assert.deepEqual([env.MAXCLAW_HOME, env.HOME, stepOf(last, "VOLUME").text], ["/data", "/data", "/data"]);
  assert.equal(stepOf(last, "USER").text, "node");
  const command = quoted(commandIn(stepOf(last, "CMD")));
  const health = quoted(commandIn(stepOf(last, "HEALTHCHECK")));

  const open = await image.start(command, env);
  assert.equal(open.code, 78, open.stderr);
  const ended = await image.start(untilHealthy(command, health), { ...env, MAXCLAW_TOKEN: "a-long-secret-token" });
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /^READY:127\.0\.0\.1:18890$/m);
  assert.match(ended.stdout, /^1000$/m);
  assert.doesNotMatch(ended.stdout, /writable/);
  const update = await image.start("maxclaw update", env);
  assert.match(update.stderr, /part of a container image/);
});

test("the Home Assistant add-on starts with what is set on its page, and not without a token", {
  skip: withoutSandbox(),
}, async () => {
  const [only] = await stagesOf("home-assistant/maxclaw/Dockerfile");
  assert.ok(only);
  const main = (await stagesOf("Dockerfile")).at(-1);
  assert.ok(main);
  await using image = await openContainerSteps();
  await image.build(stepOf(main, "RUN").text, { BUBBLEWRAP: "1", CHROMIUM: "0" });
  const [config, options] = [join(image.folder, "config"), join(image.folder, "options")];
  for (const folder of [config, options]) await mkdir(folder);
  const binds = { "/config": config, "/options": options };
  const env = { ...variablesIn(stepOf(only, "ENV")), OPTIONS_FILE: "/options/options.json" };
  const script = "/opt/maxclaw/lib/node_modules/maxclaw/home-assistant/maxclaw/run.sh";
  const set = (values: object): Promise<void> => writeFile(join(options, "options.json"), JSON.stringify(values));

  await set({ token: "" });
  const refused = await image.start(script, env, binds);
  assert.equal(refused.code, 78);
  assert.match(refused.stderr, /^Set a token on the Configuration page/);
  await set({ token: 'it\'s "a" $token', time_zone: "Europe/Berlin" });
  const health = quoted(commandIn(stepOf(only, "HEALTHCHECK")));
  const ended = await image.start(untilHealthy(script, health), env, binds);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /^READY:127\.0\.0\.1:18890$/m);
});

test("the compose file and the add-on say what the image says", async () => {
  const { parse } = await import("yaml");
  const compose = parse(await readFile(projectFile("compose.yaml"), "utf8"));
  const { maxclaw } = compose.services;
  assert.equal(maxclaw.read_only, true);
  assert.deepEqual(maxclaw.cap_drop, ["ALL"]);
  assert.deepEqual(maxclaw.ports, ["127.0.0.1:18890:18890"]);
  assert.deepEqual(maxclaw.volumes, ["data:/data"]);
  assert.ok("data" in compose.volumes);
  const last = (await stagesOf("Dockerfile")).at(-1);
  assert.ok(last);
  const args = last.steps.filter(({ name }) => name === "ARG").map(({ text }) => text.split("=")[0]);
  assert.deepEqual(Object.keys(maxclaw.build.args), args);

  const addOn = parse(await readFile(projectFile("home-assistant/maxclaw/config.yaml"), "utf8"));
  const { version } = JSON.parse(await readFile(projectFile("package.json"), "utf8"));
  assert.equal(addOn.version, version);
  assert.deepEqual(addOn.ports, { "18890/tcp": 18_890 });
  for (const name of Object.keys(addOn.options)) assert.ok(name in addOn.schema, name);
  const script = await readFile(projectFile("home-assistant/maxclaw/run.sh"), "utf8");
  for (const name of Object.keys(addOn.schema)) assert.ok(script.includes(`option ${name})`), name);
});

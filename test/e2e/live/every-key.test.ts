import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { configKeys } from "../../../src/config/shape.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { projectFile } from "../../support/project.js";
import { wholeConfig, withOther } from "../../support/worlds/every-setting.js";
import { startGateway, tempHome } from "../../support/worlds/gateway.js";
import { lookedAt } from "../../support/worlds/live-edit.js";

/** What counts without a restart. That it does, and not only says so, is what the other tests here show for each of them. */
const taken = [
  "agents.defaults.(model|fallbacks|thinking|maxTokens|contextWindow|temperature|enableGlobalSkills)",
  "agents.defaults.(executionMode|timezone|maxToolIterations|quietMs|quietAfter|compactAt)",
  "agents.spawn.*",
  "providers.*",
  "channels.*",
  "owners",
  "tools.web.*",
  "tools.exec.(timeout|network|maxFolderMegabytes|maxFolderFiles)",
  "tools.restrictToWorkspace",
  "tools.mcpServers.*",
  "tools.mcp.*",
  "skills.*",
  "prices.*",
  "budgets.*",
  "heartbeat.*",
  "memory.*",
  "policy.*",
  "inbound.*",
  "transcription.*",
  "telemetry.*",
  "gateway.(basePath|trustedProxies|publicUrl|sessionDays)",
].map((text) => ({
  text,
  pattern: new RegExp(`^${text.replaceAll(".", "\\.").replaceAll("<name>", "[^.]+").replace("*", ".+")}$`),
}));
/** There is one value only. */
const refused = ["engine.kind"];

test("each key of the config is either taken over by the gateway that runs or named as due for a restart", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  const home = await tempHome();
  const env = { HOME: home };
  await writeFile(join(home, "nothing.mjs"), "export default { name: 'nothing' };\n");
  const base = wholeConfig(model.apiBase, home);
  await using gateway = await startGateway({ home, config: base });
  const { api } = gateway.gateway;
  const seen = { taken: [] as string[], refused: [] as string[] };
  for (const key of configKeys()) {
    const other = await withOther(key, base, { home, env });
    assert.ok(other, `${key} has another value that counts`);
    const { name, config } = other;
    await writeFile(join(home, "config.json"), JSON.stringify(base));
    assert.deepEqual((await lookedAt(gateway.gateway)).restart, []);
    const from = gateway.log.lines.length;
    await writeFile(join(home, "config.json"), JSON.stringify(config));
    const { restart, problem } = await lookedAt(gateway.gateway);
    const { problems } = await api.status();
    const due = problems.filter((one) => one.startsWith("Restart the gateway"));
    if (other.isWrong) {
      seen.refused.push(key);
      assert.match(problem ?? "", /goes on as before\.$/, key);
    } else if (restart.length > 0) {
      assert.ok(restart.length === 1 && isOf(restart[0] ?? "", name), `${key}: ${restart.join()}`);
      assert.deepEqual(due, [`Restart the gateway: the config has changed at ${restart[0]}.`]);
      assert.deepEqual((await api.settings?.read())?.restart, restart);
    } else {
      assert.equal(problem, undefined, key);
      assert.deepEqual(due, [], key);
      const inForce = gateway.log.lines.slice(from).flatMap(({ fields }) => fields.settings ?? []);
      assert.ok(
        inForce.some((one) => isOf(String(one), name)),
        `${key} is neither in force nor due: ${inForce.join()}`,
      );
      seen.taken.push(key);
    }
  }
  const wanted = configKeys().filter((key) => taken.some(({ pattern }) => pattern.test(key)));
  assert.deepEqual(seen, { taken: wanted, refused });
  for (const { path, effect } of (await api.settings?.keys.all())?.settings ?? []) {
    const name = path.join(".");
    const own = configKeys().filter((key) => key.startsWith(name) && /^(?:$|\.\*|\[\])/.test(key.slice(name.length)));
    assert.ok(own.length > 0, name);
    assert.equal(effect, own.every((key) => wanted.includes(key)) ? "now" : "restart", name);
  }
  await writeFile(join(home, "config.json"), JSON.stringify(base));
  assert.deepEqual((await lookedAt(gateway.gateway)).restart, []);
  assert.equal((await gateway.ask("are you well?")).response, "hello");
});

test("docs/config.md says of each of them that it is taken over, and of no other key", async () => {
  const docs = await readFile(projectFile("docs/config.md"), "utf8");
  const table = docs.slice(
    docs.indexOf("| Applied at once"),
    docs.indexOf("Everything else takes effect at the next start"),
  );
  const said = [...table.matchAll(/`([^`]+)`(:?)/g)].map(([, name = "", colon]) => ({ name, isHead: colon === ":" }));
  const heads = said.filter(({ isHead }) => isHead).map(({ name }) => name);
  const whole = said.filter(({ isHead }) => !isHead).map(({ name }) => name);
  const names = [...whole, ...heads.flatMap((head) => whole.map((name) => `${head}.${name}`))];
  const patterns = names.map(
    (name) => new RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", "[^.]+")}(\\.|\\[|$)`),
  );
  assert.deepEqual(
    configKeys().filter((key) => patterns.some((pattern) => pattern.test(key))),
    configKeys().filter((key) => taken.some(({ pattern }) => pattern.test(key))),
  );
});

/** It, or something that it is in: lists, and channels that come and go, are told as a whole. */
function isOf(told: string, name: string): boolean {
  return name === told || name.startsWith(`${told}.`) || told.startsWith(`${name}.`);
}

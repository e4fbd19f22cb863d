import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { EngineError } from "../../../../src/errors.js";
import { repairFiles } from "../../../../src/offline/repair.js";
import { damageHome, textsIn } from "../../../support/engine/home-damage.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { createRandom } from "../../../support/random.js";
import { openAIConfig, startGateway, type TestGateway, tempHome } from "../../../support/worlds/gateway.js";

const rounds = Number(process.env.DAMAGE_ROUNDS ?? 30);
const seed = Number(process.env.DAMAGE_SEED ?? Date.now() % 1_000_000);
const texts = /(first|second|third) in webui:\w+/g;
const chats = ["webui:one", "webui:two", "webui:three"];

/** A home that people have used, as a kill and as an orderly stop leave it. */
async function usedHomes(apiBase: string): Promise<readonly string[]> {
  const homes: string[] = [];
  await using gateway = await startGateway({ config: openAIConfig(apiBase), isRuled: false });
  for (const text of ["first", "second", "third"])
    for (const key of chats) await gateway.ask(`${text} in ${key}`, { key });
  await gateway.gateway.api.renameSession(chats[0] ?? "", "A title");
  const killed = mkdtempSync(join(tmpdir(), "maxclaw-used-"));
  cpSync(gateway.home, killed, { recursive: true });
  homes.push(killed);
  await gateway.gateway.drain(1000);
  await gateway.gateway[Symbol.asyncDispose]();
  const stopped = mkdtempSync(join(tmpdir(), "maxclaw-used-"));
  cpSync(gateway.home, stopped, { recursive: true });
  homes.push(stopped);
  for (const home of homes) rmSync(join(home, "gateway.lock"), { force: true });
  for (const home of homes) rmSync(join(home, "workspace", ".sessions", ".lock"), { force: true });
  return homes;
}

async function open(home: string): Promise<TestGateway | EngineError> {
  try {
    return await startGateway({ home, isRuled: false });
  } catch (error) {
    assert.ok(error instanceof EngineError && error.kind === "corrupt", String(error));
    assert.match(error.message, /maxclaw repair/, "a refusal says what to do");
    return error;
  }
}

test(`${rounds} random damages to the files of a home: it starts or is refused by name, and loses nothing that can be read`, async (t) => {
  t.diagnostic(`DAMAGE_SEED=${seed}, more with DAMAGE_ROUNDS`);
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  const homes = await usedHomes(model.apiBase);
  const random = createRandom(seed);
  for (let round = 0; round < rounds; round += 1) {
    const home = await tempHome();
    cpSync(homes[round % homes.length] ?? "", home, { recursive: true });
    const what = damageHome(home, random);
    const about = `seed ${seed}, round ${round}, ${what.how} of ${what.file}`;
    const said = textsIn(home, what, texts);
    let gateway = await open(home);
    if (gateway instanceof EngineError) {
      await repairFiles({ home, workspace: join(home, "workspace") });
      gateway = await open(home);
    }
    assert.ok(!(gateway instanceof EngineError), `${about}: it starts after a repair`);
    await using running = gateway;
    const found = new Set<string>();
    const mended = new Set<string>();
    for (const key of chats) {
      assert.equal((await running.ask("and now?", { key })).response, "ok", `${about}: ${key} goes on`);
      const events = await running.events(key);
      const seqs = events.map(({ seq }) => seq);
      assert.deepEqual(
        seqs,
        [...new Set(seqs)].sort((one, other) => one - other),
        about,
      );
      if (events.some(({ type }) => type === "session_log_mended")) mended.add(key);
      for (const [text] of JSON.stringify(events).matchAll(texts)) found.add(text);
    }
    for (const text of said) assert.ok(found.has(text), `${about}: “${text}” is in undamaged bytes`);
    const problems = JSON.stringify((await running.gateway.api.status()).problems);
    for (const key of mended) assert.ok(problems.includes(key), `${about}: status names ${key}`);
  }
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

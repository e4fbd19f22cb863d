import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { RequestError } from "../../../../src/errors.js";
import { silentLog } from "../../../../src/log.js";
import { Learned } from "../../../../src/memory/owner/learned.js";
import { OwnerMemory } from "../../../../src/memory/owner/owner-memory.js";
import { tempHome } from "../../../support/worlds/gateway.js";

/** Records in this process. */
function records() {
  const kept = new Map<string, unknown>();
  return {
    kept,
    get: (id: string) => kept.get(id),
    put: async (id: string, value: unknown) => void kept.set(id, value),
    delete: async (id: string) => void kept.delete(id),
    list: () => [...kept.keys()].map((id) => ({ id })),
  };
}

async function open(text?: string) {
  const workspace = await tempHome();
  const file = join(workspace, "memory", "MEMORY.md");
  await mkdir(join(workspace, "memory"));
  if (text !== undefined) await writeFile(file, text);
  const kept = records();
  const memory = new OwnerMemory(workspace, new Learned(kept), { log: silentLog });
  return { memory, file, workspace, kept: kept.kept };
}

const where = { sessionKey: "telegram:1", by: "telegram:1", at: "2026-11-23T10:00:00.000Z" };

test("a fact knows where it was learned until it is changed by hand or forgotten", async () => {
  const { memory, file, kept } = await open("- by hand\n");
  await memory.change({ kind: "add", text: "Ann  drinks\ntea." }, { ...where, outside: "a web page" });
  await memory.change({ kind: "replace", old: "by hand", text: "by a tool" }, where);
  assert.deepEqual(await memory.facts(), [
    { text: "by a tool", ...where },
    { text: "Ann  drinks tea.", ...where, outside: "a web page" },
  ]);
  assert.ok(
    ![...kept.values()].some((value) => JSON.stringify(value).includes("tea")),
    "the text is in the file alone",
  );
  await writeFile(file, (await readFile(file, "utf8")).replace("Ann  drinks tea.", "Ann drinks coffee."));
  assert.deepEqual((await memory.facts())[1], { text: "Ann drinks coffee." });
  assert.equal(kept.size, 1, "what nobody needs is gone");
  await memory.forget("by a tool");
  assert.equal(await readFile(file, "utf8"), "- Ann drinks coffee.\n");
  await memory.facts();
  assert.equal(kept.size, 0);
});

test("forgetting takes one line, in every style of list, and nothing that is only like it", async () => {
  const { memory, file } = await open("# Ann\n\n- tea\n  * tea with milk\n- tea\ntea\n");
  await memory.forget("tea with milk");
  await memory.forget("tea");
  assert.equal(await readFile(file, "utf8"), "# Ann\n\n- tea\ntea\n");
  await assert.rejects(memory.forget("milk"), (error) => error instanceof RequestError && error.status === 404);
});

test("the tool and the owner change the file in turns", async () => {
  const { memory, file } = await open(Array.from({ length: 40 }, (_, n) => `- old ${n}\n`).join(""));
  await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      await Promise.all([memory.forget(`old ${n}`), memory.change({ kind: "add", text: `new ${n}` }, where)]);
    }),
  );
  const lines = (await readFile(file, "utf8")).trim().split("\n").sort();
  assert.deepEqual(lines, Array.from({ length: 40 }, (_, n) => `- new ${n}`).sort());
});

test("where there is no file nothing is known, and a link is said to be one", async () => {
  const { memory, workspace } = await open();
  assert.deepEqual(await memory.facts(), []);
  await symlink(join(workspace, "elsewhere.md"), join(workspace, "memory", "MEMORY.md"));
  await assert.rejects(memory.facts(), (error) => error instanceof RequestError && /it is a link/.test(error.message));
});

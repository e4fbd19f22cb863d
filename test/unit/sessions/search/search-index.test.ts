import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import fc from "fast-check";
import { foldText } from "../../../../src/sessions/search/fold-text.js";
import { needlesOf } from "../../../../src/sessions/search/query.js";
import type { SearchQuery } from "../../../../src/sessions/search/search.js";
import type { SearchIndex } from "../../../../src/sessions/search/search-index.js";
import { fuzzOptions } from "../../../support/fuzz.js";
import { SearchWorld } from "./search-world.js";

async function snippets(index: SearchIndex, text: string, more: Partial<SearchQuery> = {}): Promise<readonly string[]> {
  const { hits, isComplete } = await index.find({ text, limit: 50, ...more });
  assert.equal(isComplete, true);
  return hits.map(({ snippet }) => snippet);
}

describe("the search in all conversations", () => {
  test("finds what people and the assistant said and titles, newest first, and says where", async () => {
    const world = new SearchWorld();
    await using index = world.open();
    world.turn("webui:1", "Where is the Blue whale?", "In the sea.");
    world.turn("telegram:42", "and the WHALE?", "A whale, too.");
    world.title("webui:1", "Whales");
    const { hits, next } = await index.find({ text: "whale", limit: 10 });
    assert.deepEqual(
      hits.map(({ sessionKey, channel, title, who, seq, snippet }) => [sessionKey, channel, title, who, seq, snippet]),
      [
        ["webui:1", "webui", "Whales", "title", 6, "Whales"],
        ["telegram:42", "telegram", undefined, "assistant", 4, "A whale, too."],
        ["telegram:42", "telegram", undefined, "user", 1, "and the WHALE?"],
        ["webui:1", "webui", "Whales", "user", 1, "Where is the Blue whale?"],
      ],
    );
    assert.equal(next, undefined);
    assert.deepEqual(hits[2]?.ranges, [[8, 13]]);
    assert.equal(hits[2]?.messageId, "m0");
    assert.deepEqual(await snippets(index, "whale", { channel: "telegram" }), ["A whale, too.", "and the WHALE?"]);
    assert.deepEqual(await snippets(index, "whale", { sessionKey: "webui:1" }), ["Whales", "Where is the Blue whale?"]);
    assert.deepEqual(await snippets(index, "whale", { channel: "tele" }), [], "a channel is a whole name");
    assert.deepEqual(await snippets(index, "webui"), [], "what is kept beside the text is not searched");
    assert.deepEqual(await snippets(index, "m0"), []);
    await assert.rejects(index.find({ text: ' "" ', limit: 1 }), { status: 400 });
    await assert.rejects(index.find({ text: "a", limit: 1, before: "nonsense" }), { status: 400 });
  });

  test("pages follow on each other without gaps, also where many were said at one time", async () => {
    const world = new SearchWorld();
    await using index = world.open();
    const timestamp = "2026-02-02T00:00:00.000Z";
    const messages = Array.from({ length: 25 }, (_, n) => ({ role: "user", content: `same ${n}`, timestamp }));
    world.tell("webui:1", "session_history_changed", { kind: "import", messages });
    for (let n = 0; n < 5; n += 1) world.turn(`webui:${n}`, `same later ${n}`, "yes");
    const all = await snippets(index, "same");
    const paged: string[] = [];
    for (let before: string | undefined; ; ) {
      const { hits, next } = await index.find({ text: "same", limit: 4, before });
      paged.push(...hits.map(({ snippet }) => snippet));
      if (next === undefined) break;
      before = next;
    }
    assert.equal(all.length, 30);
    assert.deepEqual(paged, all);
  });

  test("what was said while no search was there is found by the next one, and nothing twice", async () => {
    const world = new SearchWorld();
    world.turn("webui:1", "the first rhino", "no", false);
    await using first = world.open();
    assert.deepEqual(await snippets(first, "rhino"), ["the first rhino"]);
    await first[Symbol.asyncDispose]();
    world.turn("webui:1", "the second rhino", "no", false);
    await using second = world.open();
    assert.deepEqual(await snippets(second, "rhino"), ["the second rhino", "the first rhino"]);
    assert.equal(readFileSync(world.path, "utf8").match(/the first rhino/g)?.length, 1);
  });

  test("a file that is cut, damaged, of another form, changed or gone is made again from the logs", async () => {
    const world = new SearchWorld();
    for (let n = 0; n < 20; n += 1) world.turn("webui:1", `gnu ${n}`, `oryx ${n}`, false);
    const write = async (): Promise<void> => {
      await using index = world.open();
      assert.equal((await snippets(index, "gnu")).length, 20);
    };
    await write();
    const whole = readFileSync(world.path);
    const damages: Readonly<Record<string, () => void>> = {
      "cut in the middle of a line": () => truncateSync(world.path, whole.length - 30),
      "cut in the first line": () => truncateSync(world.path, 5),
      empty: () => truncateSync(world.path, 0),
      "zeros in the middle": () =>
        writeFileSync(world.path, Buffer.concat([whole.subarray(0, 200), Buffer.alloc(300), whole.subarray(500)])),
      "another form": () => writeFileSync(world.path, whole.toString().replace("maxclaw-search 1", "maxclaw-search 0")),
      gone: () => rmSync(world.path),
    };
    for (const [name, damage] of Object.entries(damages)) {
      writeFileSync(world.path, whole);
      damage();
      await write();
      assert.equal(readFileSync(world.path, "utf8").match(/\tgnu 7\n/g)?.length, 1, name);
      // Nothing tells of a change to a file of the same size before it is read as a whole, two minutes later.
      if (name === "zeros in the middle" || name === "another form") continue;
      await using index = world.open();
      assert.equal((await snippets(index, "oryx")).length, 20, name);
      damage();
      assert.equal((await snippets(index, "oryx")).length, 20, `${name}, while it is open`);
    }
  });

  test("every end of the file that a kill can leave: the next start has everything once", async () => {
    const world = new SearchWorld();
    for (let n = 0; n < 3; n += 1) world.turn(`webui:${n}`, `tapir ${n}`, "ok", false);
    const search = async (): Promise<void> => {
      await using index = world.open();
      assert.equal((await snippets(index, "tapir")).length, 3);
      assert.equal(readFileSync(world.path, "utf8").match(/\ttapir/g)?.length, 3);
    };
    await search();
    const whole = readFileSync(world.path);
    for (let length = 0; length < whole.length; length += 7) {
      writeFileSync(world.path, whole.subarray(0, length));
      await search();
    }
  });

  test("what is undone is not found, and leaves the file; what waits stays", async () => {
    const world = new SearchWorld();
    await using index = world.open();
    world.turn("webui:1", "keep the okapi", "kept okapi");
    const before = world.logs.get("webui:1")?.at(-1)?.seq ?? 0;
    world.turn("webui:1", "undo the okapi", "undone okapi");
    assert.equal((await snippets(index, "okapi")).length, 4);
    const sender = { channel: "webui", chat_id: "1", sender_id: "owner", mode: "next" as const, position: 0 };
    const content = [{ type: "text" as const, text: "waiting okapi" }];
    world.tell("webui:1", "user_message_queued", { message_id: "waits", content, ...sender });
    world.undo("webui:1", before);
    assert.deepEqual(await snippets(index, "okapi"), ["waiting okapi", "kept okapi", "keep the okapi"]);
    assert.doesNotMatch(readFileSync(world.path, "utf8"), /und(?:o|one) (?:the )?okapi/);
    // The same in one reading.
    rmSync(world.path);
    assert.deepEqual(await snippets(index, "okapi"), ["waiting okapi", "kept okapi", "keep the okapi"]);
  });

  test("a title that was given up is not found any more", async () => {
    const world = new SearchWorld();
    await using index = world.open();
    world.turn("webui:1", "hello", "hi");
    world.title("webui:1", "Old platypus");
    assert.deepEqual(await snippets(index, "platypus"), ["Old platypus"]);
    world.title("webui:1", "New name");
    assert.deepEqual(await snippets(index, "platypus"), []);
    assert.deepEqual(await snippets(index, "new name"), ["New name"]);
  });

  test("what is forgotten is gone from the file at once, with the sessions below it, and no others", async () => {
    const world = new SearchWorld();
    await using index = world.open();
    for (const key of ["webui:1", "webui:1:spawn:t1", "webui:12", "webui:1:2"])
      world.turn(key, "koala", `said in ${key}`);
    assert.equal((await snippets(index, "koala")).length, 4);
    world.logs.delete("webui:1");
    world.logs.delete("webui:1:spawn:t1");
    await index.forget("webui:1");
    const text = readFileSync(world.path, "utf8");
    assert.doesNotMatch(text, /said in webui:1(?:\n|:spawn)/);
    assert.match(text, /said in webui:12\n/);
    assert.equal((await snippets(index, "koala")).length, 2);
    // Its next life begins above.
    world.turn("webui:1", "koala again", "yes");
    assert.deepEqual(await snippets(index, "again"), ["koala again"]);
  });

  test("a deletion does not wait until all is read for the first time", async () => {
    const world = new SearchWorld();
    for (let n = 0; n < 50; n += 1) world.turn(`webui:${n}`, "echidna", "yes", false);
    await using index = world.open();
    const found = index.find({ text: "echidna", limit: 100 });
    world.logs.delete("webui:7");
    await index.forget("webui:7");
    assert.ok(world.reads < 10, `${world.reads} reads came before it`);
    assert.equal((await found).hits.length, 49);
    assert.equal((await snippets(index, "echidna")).length, 49);
  });

  test("a file that cannot be used is named in the log, and counts again once it can", async () => {
    const world = new SearchWorld();
    world.turn("webui:1", "first potoroo", "yes", false);
    {
      await using index = world.open();
      assert.equal((await snippets(index, "potoroo")).length, 1);
    }
    const whole = readFileSync(world.path);
    rmSync(world.path);
    mkdirSync(world.path);
    world.turn("webui:1", "second potoroo", "yes", false);
    await using index = world.open();
    await assert.rejects(index.find({ text: "potoroo", limit: 5 }), { code: "EISDIR" });
    assert.ok(world.log.lines.some(({ level }) => level === "warn"));
    rmSync(world.path, { recursive: true });
    writeFileSync(world.path, whole);
    assert.equal((await snippets(index, "potoroo")).length, 2);
  });

  test("a session that went while no gateway ran leaves the file with the next search", async () => {
    const world = new SearchWorld();
    world.turn("webui:1", "secret numbat", "yes", false);
    world.turn("webui:2", "another numbat", "yes", false);
    {
      await using index = world.open();
      assert.equal((await snippets(index, "numbat")).length, 2);
    }
    world.logs.delete("webui:1");
    await using index = world.open();
    assert.deepEqual(await snippets(index, "numbat"), ["another numbat"]);
    assert.doesNotMatch(readFileSync(world.path, "utf8"), /secret numbat/);
  });

  test("a log that was replaced by another one of the same length is read again", async () => {
    const world = new SearchWorld();
    world.turn("webui:1", "one quokka", "yes", false);
    {
      await using index = world.open();
      assert.equal((await snippets(index, "quokka")).length, 1);
    }
    world.logs.delete("webui:1");
    world.turn("webui:1", "restored wombat", "yes", false);
    world.turn("webui:1", "newer wombat", "yes", false);
    await using index = world.open();
    assert.deepEqual(await snippets(index, "quokka"), []);
    assert.deepEqual(await snippets(index, "wombat"), ["newer wombat", "restored wombat"]);
    assert.doesNotMatch(readFileSync(world.path, "utf8"), /quokka/);
  });

  test("a file that is mostly blanks is written again without them", async () => {
    const world = new SearchWorld();
    await using index = world.open();
    world.turn("webui:big", `lemur ${"x".repeat(3_000_000)}`, "yes");
    world.turn("webui:small", "lemur", "yes");
    assert.equal((await snippets(index, "lemur")).length, 2);
    world.logs.delete("webui:big");
    await index.forget("webui:big");
    assert.deepEqual(await snippets(index, "lemur"), ["lemur"]);
    assert.ok(readFileSync(world.path).length < 2000);
    world.turn("webui:small", "second lemur", "yes");
    assert.deepEqual(await snippets(index, "lemur"), ["second lemur", "lemur"]);
  });

  test("whatever is said, undone, deleted and restarted: the same is found as by reading everything", async (t) => {
    const words = ["ant", "Bee", "CAT", "bee cat", "猫", "ante"];
    const step = fc.record({
      what: fc.constantFrom("turn", "turn", "turn", "undo", "forget", "restart", "unheard"),
      key: fc.constantFrom("webui:1", "telegram:2", "webui:1:spawn:a"),
      text: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(" ")),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const world = new SearchWorld();
        let index = world.open();
        const turns: { key: string; before: number; texts: readonly string[] }[] = [];
        const run = async ({ what, key, text }: (typeof steps)[number]): Promise<void> => {
          if (what === "restart") {
            await index[Symbol.asyncDispose]();
            index = world.open();
          } else if (what === "forget") {
            for (const each of [...world.logs.keys()].filter(
              (other) => other === key || other.startsWith(`${key}:spawn:`),
            )) {
              world.logs.delete(each);
              turns.splice(0, turns.length, ...turns.filter((turn) => turn.key !== each));
            }
            await index.forget(key);
          } else if (what === "undo") {
            const last = turns.findLastIndex((turn) => turn.key === key);
            const [undone] = last === -1 ? [] : turns.splice(last, 1);
            if (undone !== undefined) world.undo(key, undone.before);
          } else {
            const before = world.logs.get(key)?.at(-1)?.seq ?? 0;
            // What nobody hears of is read by the next start.
            world.turn(key, text, `re ${text}`, what === "turn");
            if (what === "unheard") await run({ what: "restart", key, text });
            turns.push({ key, before, texts: [text, `re ${text}`] });
          }
        };
        for (const each of steps) {
          await run(each);
          const query = words[steps.indexOf(each) % words.length] ?? "ant";
          const expected = turns
            .flatMap(({ texts }) => texts)
            .filter((text) => needlesOf(query).every((needle) => foldText(text).includes(needle)));
          assert.deepEqual([...(await snippets(index, query, { limit: 100 }))].sort(), [...expected].sort());
        }
        await index[Symbol.asyncDispose]();
        rmSync(world.path, { force: true });
      }),
      fuzzOptions(t, 60),
    );
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { slowness } from "../../support/cost.js";
import { startWithModel } from "../../support/worlds/gateway.js";

async function start() {
  const scripted = await startWithModel({ text: "Noted." });
  const { api, url } = scripted;
  const post = async (body: unknown) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const heard = async (): Promise<readonly string[]> =>
    (await api.getSession("openai:default")).messages
      .filter(({ role }) => role === "user")
      .map(({ content }) => content);
  return {
    ...scripted,
    post,
    heard,
  };
}

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: string) => ({ content, role: "assistant" });
const megabytes = (count: number): string => 'iVBORw0KGgo\\"AAA'.repeat(Math.ceil((count * 1024 * 1024) / 15));
const picture = (count: number) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${"A".repeat(count * 1024 * 1024)}` },
});

test("a history of tens of megabytes is taken, and only what was said last counts", async () => {
  await using t = await start();
  const old = [user([{ type: "text", text: "look" }, picture(20)]), assistant(`fine ${megabytes(3)}`)];
  const more = [
    user('longer "quoted" [brackets] {here} \\'),
    assistant("yes"),
    { role: "system", content: megabytes(3) },
  ];
  const body = { model: "maxclaw", messages: [...old, ...more, ...old, user("Größe: 5 ✓"), user('and "this"')] };
  const before = process.memoryUsage().rss;
  const answer = await t.post(body);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  assert.deepEqual(await t.heard(), ['Größe: 5 ✓\n\nand "this"']);
  assert.ok(process.memoryUsage().rss - before < 400 * 1024 * 1024);
});

test("others are answered while a long history arrives", async () => {
  await using t = await start();
  let longest = 0;
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const from = performance.now();
      await (await fetch(`${t.url}/health`)).text();
      longest = Math.max(longest, performance.now() - from);
    }
  };
  // Made before, so that only the gateway works while it is watched.
  const body = JSON.stringify({ messages: [user([picture(60)]), assistant("ok"), user("hello")] });
  const watching = watch();
  assert.equal((await t.post(body)).status, 200);
  isOver = true;
  await watching;
  assert.ok(longest < 2000 * slowness(), `${longest} ms`);
});

test("what counts is still limited and checked, and what is not a conversation is refused with words", async () => {
  await using t = await start();
  const last = await t.post({ messages: [assistant("hi"), user([{ type: "text", text: "see" }, picture(3)])] });
  assert.equal(last.status, 413);
  assert.match(last.text, /What was said since the last answer is larger than 2 MB/);
  const cases: readonly (readonly [unknown, number, RegExp])[] = [
    [{ messages: [user("a"), assistant("b")] }, 400, /last message must be the user's/],
    [{ messages: [{ role: "system", content: "x" }] }, 400, /holds no user message/],
    [{ messages: [] }, 400, /messages/],
    [{ model: "maxclaw" }, 400, /messages/],
    [{ messages: "hello" }, 400, /messages/],
    [{ messages: null }, 400, /messages/],
    [{ messages: [assistant("x"), "hello"] }, 400, /messages/],
    [{ messages: [user([picture(0)])] }, 400, /Only text is taken here/],
    ['{"messages":[{"role":"user","content":"a"}', 400, /not valid JSON/],
    ['{"messages":[{"role":"user","content":"a"}]}]', 400, /not valid JSON/],
    ['{"messages":[{"role":"user","content":"a},{"}]', 400, /not valid JSON/],
    [`{"messages":[{"role":"user","content":${"[".repeat(200)}${"]".repeat(200)}}]}`, 400, /nested/],
    [`{"x":"${"y".repeat(3 * 1024 * 1024)}","messages":[{"role":"user","content":"a"}]}`, 413, /larger/],
    ["", 400, /JSON body is needed/],
  ];
  for (const [body, status, words] of cases) {
    const answer = await t.post(body);
    assert.equal(answer.status, status, `${JSON.stringify(body).slice(0, 100)}: ${answer.text}`);
    assert.match(answer.text, words, JSON.stringify(body).slice(0, 100));
  }
  const twice = '{"messages":[{"role":"user","content":"first"}],"messages":[{"role":"user","content":"second"}]}';
  assert.equal((await t.post(twice)).status, 200);
  assert.deepEqual(await t.heard(), ["second"]);
});

test("more than the limit of a history is 413 at once", async () => {
  await using t = await start();
  const answer = await t.post({ messages: [user([picture(129)]), assistant("ok"), user("hello")] });
  assert.equal(answer.status, 413);
});

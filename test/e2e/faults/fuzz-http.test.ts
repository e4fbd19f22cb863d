import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { WebSocket } from "ws";
import { allRoutes } from "../../../src/http/request-handler.js";
import type { Route } from "../../../src/http/routes/routes.js";
import { fuzzOptions, isUnpolluted, oddJsonText, oddText } from "../../support/fuzz.js";
import { startGateway, type TestGateway } from "../../support/worlds/gateway.js";

let world: TestGateway;
let port = 0;
/** A package registry that has nothing: nobody outside is asked. */
let registry: Server;
const npmRegistry = process.env.npm_config_registry;
const faults: unknown[] = [];
const onFault = (error: unknown): void => void faults.push(error);
before(async () => {
  process.on("unhandledRejection", onFault);
  registry = createServer((_, response) => response.writeHead(404).end("{}")).listen(0, "127.0.0.1");
  await once(registry, "listening");
  // It listens on a port, not on a pipe.
  process.env.npm_config_registry = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
  world = await startGateway({ isRuled: false });
  port = Number(world.gateway.address.split(":").at(-1));
  assert.ok(port > 0);
  await world.ask("hello", { key: "webui:fuzz" });
});
after(async () => {
  await world[Symbol.asyncDispose]();
  registry.close();
  if (npmRegistry === undefined) delete process.env.npm_config_registry;
  else process.env.npm_config_registry = npmRegistry;
  process.off("unhandledRejection", onFault);
});

/** Every name that a body or a query may have. A new one need not be here: bodies are odd enough without it. */
const names = [
  ...[
    "content",
    "sessionKey",
    "key",
    "title",
    "model",
    "cwd",
    "at",
    "mode",
    "messageId",
    "attachments",
    "path",
    "filename",
  ],
  ...[
    "stream",
    "messages",
    "role",
    "user",
    "requestId",
    "answer",
    "values",
    "code",
    "source",
    "name",
    "schedule",
    "message",
  ],
  ...[
    "enabled",
    "id",
    "every",
    "cron",
    "tz",
    "deliver",
    "chat",
    "selectedSkills",
    "mimeType",
    "sizeBytes",
    "url",
    "text",
    "type",
  ],
];
const queries = [
  "from_sequence",
  "limit",
  "offset",
  "types",
  "days",
  "include_recovery",
  "token",
  "channel",
  "chat_id",
  "job",
];
/** They answer for as long as the caller listens: the beginning is enough. */
/** They end late, or ask other programs. */
const endless = /stream|files\/hold|api\/(?:update|backups|doctor)$/;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Resolves with the answer, or with its beginning where it never ends. */
function ask(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => sent.destroy(new Error(`no answer to ${method} ${path.slice(0, 200)}`)), 20_000);
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers: got } = response;
      const type = got["content-type"] ?? "";
      let text = "";
      const done = (): void => {
        clearTimeout(timer);
        sent.destroy();
        resolve({ status, type, text });
      };
      if (type.startsWith("text/event-stream")) return done();
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", done);
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A path that Node sends: what cannot be in one is escaped, and everything else stays as odd as it is. */
function sendable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/gu, (mark) => encodeURIComponent(mark.toWellFormed())).replaceAll("#", "%23");
}

function requestsOf(route: Route) {
  const parts = route.path.slice(1).split("/");
  const segments = parts.map((part) =>
    part.startsWith(":")
      ? fc.oneof(
          oddText.map(sendable),
          oddText.map((text) => encodeURIComponent(text.toWellFormed())),
        )
      : fc.constant(part),
  );
  const query = fc.array(fc.tuple(fc.constantFrom(...queries), oddText), { maxLength: 3 });
  return fc.record({
    path: fc.tuple(...segments).map((all) => `/${all.join("/")}`),
    query: query.map((all) =>
      all.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join("&"),
    ),
    body: oddJsonText(names),
    type: fc.oneof(
      { arbitrary: fc.constant("application/json"), weight: 8 },
      fc.constantFrom("text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-7", ""),
    ),
    file: oddText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 4000)),
    coding: fc.oneof({ arbitrary: fc.constant(undefined), weight: 9 }, fc.constantFrom("gzip", "deflate", "br")),
  });
}

function assertPlain({ status, type, text }: Answer, about: string): void {
  assert.ok(
    status >= 200 && (status < 500 || status === 503 || status === 501),
    `${status} to ${about}: ${text.slice(0, 300)}`,
  );
  if (type.includes("json") && text !== "") JSON.parse(text);
  if (status >= 400) assert.match(type, /json/, about);
  assert.doesNotMatch(text, /\n\s+at .*\.js:\d+/, `a stack in the answer to ${about}`);
}

for (const route of allRoutes)
  test(`${route.method} ${route.path} answers whatever it is sent`, async (t) => {
    let reached = 0;
    const runs = endless.test(route.path) ? 10 : 30;
    await fc.assert(
      fc.asyncProperty(requestsOf(route), async ({ path, query, body, type, file, coding }) => {
        const hasBody = route.method !== "GET" && route.method !== "DELETE";
        const headers = {
          ...(hasBody
            ? { "content-type": type, "x-filename": file, "content-length": String(Buffer.byteLength(body)) }
            : {}),
          ...(coding === undefined ? {} : { "content-encoding": coding }),
        };
        const target = `${path}${query === "" ? "" : `?${query}`}`.slice(0, 12_000);
        const answer = await ask(route.method, target, headers, hasBody ? body : undefined);
        reached += answer.text.includes("There is nothing at") ? 0 : 1;
        assertPlain(answer, `${route.method} ${target.slice(0, 300)} ${body.slice(0, 300)}`);
      }),
      fuzzOptions(t, runs),
    );
    assert.ok(reached > 0, "no request has come to the route");
    assert.deepEqual([faults, isUnpolluted()], [[], true]);
  });

test("paths and methods that there are none of are refused in JSON", async (t) => {
  const method = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "PROPFIND");
  const path = fc.array(oddText.map(sendable), { maxLength: 5 }).map((parts) => `/${parts.join("/")}`.slice(0, 12_000));
  await fc.assert(
    fc.asyncProperty(
      method,
      fc.oneof(
        path,
        path.map((rest) => `/api${rest}`),
      ),
      async (verb, target) => {
        const { status } = await ask(verb, target, {});
        assert.ok(status < 500, `${status} to ${verb} ${target.slice(0, 300)}`);
      },
    ),
    fuzzOptions(t, 100),
  );
});

test("the gateway's WebSocket answers each frame, whatever it holds, and goes on", async (t) => {
  const commands = [
    ...[
      "message_send",
      "turn_cancel",
      "turn_retry",
      "human_input_reply",
      "session_open",
      "session_list",
      "session_delete",
      "session_title_set",
    ],
    ...[
      "session_abort",
      "session_complete",
      "session_fork",
      "session_status",
      "events_subscribe",
      "events_unsubscribe",
      "ping",
    ],
  ];
  const fields = [
    "session_key",
    "content",
    "request_id",
    "answer",
    "values",
    "title",
    "at",
    "from_sequence",
    "types",
    "mode",
    "message_id",
  ];
  const command = fc
    .record({
      id: fc.oneof(oddText, fc.integer()),
      type: fc.oneof(fc.constantFrom(...commands), oddText),
      payload: oddJsonText(fields),
    })
    .map(
      ({ id, type, payload }) =>
        `{"type":"command","id":${JSON.stringify(id)},"command":{"type":${JSON.stringify(type)},"payload":${payload}}}`,
    );
  const frame = fc.oneof(
    { arbitrary: command, weight: 4 },
    oddJsonText(["type", "id", "command", "session", "mode", "content"]),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 8 }), async (frames) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
      const pong = new Promise<void>((resolve, reject) => {
        socket.on("error", reject);
        socket.on("close", (code) => reject(new Error(`closed with ${code}`)));
        socket.on("message", (data) => {
          if (String(data).includes('"the last one"')) resolve();
        });
      });
      await new Promise<void>((resolve) => socket.once("open", resolve));
      for (const text of frames) socket.send(text);
      socket.send('{"type":"command","id":"the last one","command":{"type":"ping"}}');
      const timer = setTimeout(() => socket.emit("error", new Error("no answer")), 20_000);
      await pong.finally(() => clearTimeout(timer));
      socket.removeAllListeners();
      socket.terminate();
    }),
    fuzzOptions(t, 40),
  );
  assert.deepEqual([faults, isUnpolluted()], [[], true]);
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EventOf } from "../../../src/events/event.js";
import { SessionEvents } from "../../../src/web/session/session-events.js";

const key = "webui:0000beef";

describe("the events of a session on the page", () => {
  test("are in the view once they are settled", () => {
    const events = new SessionEvents(key);
    events.add(question(1));
    assert.deepEqual(textsOf(events), []);
    events.settle();
    assert.deepEqual(textsOf(events), ["Question 1"]);
  });

  test("come in order when older ones are put before them, the live ones that wait among them, and none twice", () => {
    const events = new SessionEvents(key);
    events.replace([question(3)]);
    events.add(question(4));
    events.prepend([question(1), question(2), question(3)], 2);
    events.settle();
    assert.deepEqual(textsOf(events), ["Question 1", "Question 2", "Question 3", "Question 4"]);
  });
});

function textsOf({ view }: SessionEvents): readonly string[] {
  return view.items.map((item) => (item.kind === "user" ? item.text : item.kind));
}

function question(seq: number): EventOf<"user_message_queued"> {
  return {
    schema_version: "1.0",
    event_id: `evt_${seq}`,
    type: "user_message_queued",
    session_key: key,
    timestamp: "2026-01-01T00:00:00.000Z",
    source: "channel:webui",
    metadata: { instance_id: "gw_test" },
    seq,
    payload: {
      message_id: `msg_${seq}`,
      channel: "webui",
      chat_id: "0000beef",
      sender_id: "owner",
      content: [{ type: "text", text: `Question ${seq}` }],
      mode: "next",
      position: 0,
    },
  };
}

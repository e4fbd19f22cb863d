import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AttachScreen } from "../../../src/cli/chat/attach-screen.js";
import { noUsage } from "../../../src/events/content.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { createMemoryGateway } from "../../support/worlds/http/http-api.js";

const key = "webui:1";

function record() {
  const gateway = createMemoryGateway();
  const events: GatewayEvent[] = [];
  gateway.bus.onAny((event) => events.push(event));
  const begin = (id: string): unknown =>
    gateway.tell(key, "message_stream_start", { message_id: id, model: "m", iteration: 1 });
  return {
    gateway,
    events,
    begin,
    say: (id: string, ...pieces: readonly string[]): void => {
      begin(id);
      for (const text of pieces) gateway.tell(key, "text_delta", { message_id: id, text });
    },
    store: (id: string, text: string): unknown =>
      gateway.tell(key, "assistant_message", {
        message_id: id,
        content: [{ type: "text", text }],
        model: "m",
        iteration: 1,
        stop_reason: "end_turn",
        usage: noUsage,
        final: true,
        partial: false,
      }),
    ask: (text: string, sender_name?: string): unknown =>
      gateway.tell(key, "user_message_queued", {
        message_id: "msg_q",
        channel: "webui",
        chat_id: "1",
        sender_id: "owner",
        ...(sender_name === undefined ? {} : { sender_name }),
        content: [{ type: "text", text }],
        mode: "next",
        position: 0,
      }),
  };
}

function screenOf(events: readonly GatewayEvent[]): string {
  let text = "";
  const screen = new AttachScreen({
    write(piece) {
      text += piece;
      return true;
    },
  });
  for (const event of events) screen.show(event);
  return text;
}

describe("a conversation that is followed in the terminal", () => {
  it("looks the same from the log and live, with tools as lines", () => {
    const { gateway, events, ask } = record();
    ask("two\nlines", "Ana");
    for (const step of gateway.turn(key, "msg_q")) step();
    const text = screenOf(events);
    assert.match(
      text,
      /^> Ana: two\n> lines\nLet me look\.\n· read_file \{"path":"a","note":"x+ …\n {2}→ read a\nHello wörld\n$/,
    );
    assert.equal(screenOf(events.filter(({ seq }) => seq !== null)), text);
  });

  it("goes on where a broken answer was, as far as the next one says the same", () => {
    const same = record();
    same.say("msg_1", "Hel", "lo wor");
    same.say("msg_2", "He", "llo", " wor", "ld");
    same.store("msg_2", "Hello world");
    assert.equal(screenOf(same.events), "Hello world\n");

    const silent = record();
    silent.say("msg_1", "Hel", "lo wor");
    silent.store("msg_2", "Hello world");
    assert.equal(screenOf(silent.events), "Hello world\n", "the answer came while nobody was connected");

    const other = record();
    other.say("msg_1", "Hel", "lo wor");
    other.say("msg_2", "He", "y", " you");
    other.store("msg_2", "Hey you");
    assert.equal(screenOf(other.events), "Hello wor\n· the answer began again:\nHey you\n");

    const shorter = record();
    shorter.say("msg_1", "Hello world");
    shorter.say("msg_2", "Hello");
    shorter.store("msg_2", "Hello");
    assert.equal(screenOf(shorter.events), "Hello world\n· the answer began again:\nHello\n");
  });

  it("shows text once when a connection comes back in the middle of it", () => {
    const { events, gateway, say, begin, store } = record();
    say("msg_1", "One ", "two ");
    begin("msg_1");
    gateway.tell(key, "text_delta", { message_id: "msg_1", text: "One two three " });
    gateway.tell(key, "text_delta", { message_id: "msg_1", text: "four." });
    gateway.tell(key, "text_delta", { message_id: "msg_other", text: "not of this answer" });
    store("msg_1", "One two three four.");
    store("msg_2", "And five.");
    assert.equal(screenOf(events), "One two three four.\nAnd five.\n");
  });

  it("puts what others say between into lines of its own, and goes on behind it", () => {
    const { events, gateway, say, ask, store } = record();
    say("msg_1", "One ");
    ask("hurry");
    gateway.tell(key, "text_delta", { message_id: "msg_1", text: "two." });
    store("msg_1", "One two.");
    assert.equal(screenOf(events), "One \n> hurry\ntwo.\n");
  });

  it("leaves a command's answer to say what the command did", () => {
    const { events, gateway, store } = record();
    gateway.tell(key, "session_history_changed", { kind: "new" }, { turn_id: "turn_1" });
    store("msg_1", "A fresh conversation.");
    assert.equal(screenOf(events), "A fresh conversation.\n");
  });

  it("says how a turn ended badly, forgets what it had not finished, and lets nothing steer the terminal", () => {
    const { events, gateway, say, store } = record();
    say("msg_1", "Half an ");
    gateway.tell(key, "turn_execution_cancelled", { message_ids: [], reason: "user_interrupt", mode: "cancel" });
    say("msg_2", "Half");
    store("msg_2", "Half \u001b[31mred");
    gateway.tell(key, "session_history_changed", {
      kind: "import",
      messages: [
        { role: "user", content: "long ago" },
        { role: "assistant", content: "yes" },
      ],
    });
    gateway.tell(key, "session_history_changed", { kind: "new" });
    const odd = { ...events[0], type: "tool_execution_start", payload: undefined } as unknown as GatewayEvent;
    assert.equal(
      screenOf([...events, odd]),
      "Half an \n· Stopped.\nHalf [31mred\n> long ago\nyes\n· New conversation\n· tool_execution_start\n",
    );
  });
});

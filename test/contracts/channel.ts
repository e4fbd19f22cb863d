import assert from "node:assert/strict";
import { test } from "node:test";
import type { Channel, ChannelContext, PressOutcome, ReceivedPress } from "../../src/channels/channel.js";
import { ChannelError } from "../../src/errors.js";
import { gate, until } from "../support/engine/engine-kit.js";
import {
  accepted,
  failureOf,
  never,
  recordPublish,
  reply,
  startChannel,
  textsOf,
} from "../support/worlds/channels/channel-kit.js";

/** A platform on loopback, as the contract needs it. */
export interface FarSide extends AsyncDisposable {
  /** A channel of its own to this platform. `cursor` gives the durable positions. */
  open(cursor?: ChannelContext["cursor"], actsAtOnce?: ChannelContext["actsAtOnce"]): Channel;
  openWithWrongSecret(): Channel;
  /** What must never be in an error. */
  readonly secrets: readonly string[];
  /** Two people's direct chats. */
  readonly chats: readonly [string, string];
  write(chatId: string, text: string): void;
  /** What people see of the assistant, in order. */
  shown(): readonly { readonly chatId: string; readonly text: string }[];
  readonly longestMessage: number;
  /** How long the platform finds a piece. */
  lengthOf(piece: string): number;
  /** The next send is refused: for good, or with a wait of one second. */
  refuseNextSend(how: "for good" | "with a wait"): void;
  /** The connection breaks when the next send has left. */
  cutNextSend(): void;
  hangNextSend(): void;
  /** The connection on which messages come in breaks. */
  loseConnection(): void;
  /**
   * For platforms that fetch the addresses in a message to show what is behind them: the texts, sent or edited, of which
   * they would do so.
   */
  previewed?(): readonly string[];
  /** Only for platforms that have buttons. */
  readonly buttons?: ButtonsFarSide;
}

/** What a platform with buttons shows, and what people do with it. */
export interface ButtonsFarSide {
  open(press: (press: ReceivedPress) => Promise<PressOutcome>): Channel;
  /** Labels below the newest message of the chat, as people see them now. */
  below(chatId: string): readonly string[];
  /** The text of the newest message of the chat, as people see it now. */
  text(chatId: string): string;
  press(chatId: string, label: string): void;
  /** What was told to those who pressed, in order; `isLoud` when they cannot overlook it. */
  told(): readonly { readonly text: string; readonly isLoud: boolean }[];
  failNextEdit(): void;
}

/** What every channel promises. `skip`: why its platform is not there. */
export function testChannelContract(
  name: string,
  openFarSide: () => Promise<FarSide>,
  skip: string | false = false,
): void {
  const channelTest = (title: string, run: (far: FarSide) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip }, async () => {
      await using far = await openFarSide();
      await run(far);
    });
  };

  // Receiving

  channelTest(
    "passes messages on in platform order, with who wrote them and an id to know them again by",
    async (far) => {
      const [chat] = far.chats;
      const gateway = recordPublish();
      const channel = far.open();
      far.write(chat, "one");
      far.write(chat, "two");
      await using running = startChannel(channel, gateway.publish);
      await until("two messages came", () => gateway.messages.length === 2);
      far.write(chat, "three");
      await until("a third came", () => gateway.messages.length === 3);
      assert.deepEqual(gateway.texts(), ["one", "two", "three"]);
      assert.ok(running.connections() >= 1);
      const ids = gateway.messages.map((message) => message.dedupId);
      assert.equal(new Set(ids).size, 3);
      for (const message of gateway.messages) {
        assert.ok(message.dedupId?.startsWith(`${channel.name}:`));
        assert.deepEqual([message.chatId, message.chatType, message.addressed], [chat, "dm", true]);
        assert.notEqual(message.senderId, "");
      }
    },
  );

  channelTest("a chat whose message is not taken yet holds up no other chat", async (far) => {
    const [stuck, other] = far.chats;
    const hold = gate();
    const gateway = recordPublish(async (message) => {
      if (message.chatId === stuck) await hold.opened;
      return accepted;
    });
    await using _running = startChannel(far.open(), gateway.publish);
    far.write(stuck, "waits");
    await until("the first message came", () => gateway.texts().includes("waits"));
    for (const text of ["a", "b", "c"]) {
      far.write(other, text);
      await until(`${text} came`, () => gateway.texts().includes(text));
    }
    hold.open();
  });

  channelTest(
    "a message for which there is no room is offered until it is taken, and its chat stays in order",
    async (far) => {
      const [chat, other] = far.chats;
      let isFull = true;
      const taken: string[] = [];
      const gateway = recordPublish((message) => {
        if (isFull && message.content === "first") return { status: "busy", reply: "Later, please." };
        taken.push(message.content);
        return accepted;
      });
      await using _running = startChannel(far.open(), gateway.publish);
      far.write(chat, "first");
      await until("the first is offered again", () => gateway.texts().filter((text) => text === "first").length > 1);
      far.write(chat, "second");
      far.write(other, "elsewhere");
      await until("the other chat goes on", () => taken.includes("elsewhere"));
      assert.deepEqual(
        far.shown().map(({ chatId, text }) => [chatId, text]),
        [[chat, "Later, please."]],
      );
      isFull = false;
      await until("both are taken", () => taken.length === 3);
      assert.deepEqual(taken, ["elsewhere", "first", "second"]);
    },
  );

  channelTest(
    "what acts at once is passed on before what its chat has sent earlier, and the rest keeps its order",
    async (far) => {
      const [chat] = far.chats;
      const hold = gate();
      const taken: string[] = [];
      const gateway = recordPublish(async ({ content }) => {
        if (content === "a slow file") await hold.opened;
        taken.push(content);
        return accepted;
      });
      const channel = far.open(undefined, ({ content }) => content === "/stop");
      await using _running = startChannel(channel, gateway.publish);
      using _freed = { [Symbol.dispose]: hold.open };
      far.write(chat, "a slow file");
      await until("it is under way", () => gateway.messages.length === 1, 20_000);
      for (const text of ["next", "/stop", "last"]) far.write(chat, text);
      await until("it is stopped", () => taken.length > 0, 20_000);
      assert.deepEqual(taken, ["/stop"]);
      hold.open();
      await until("all came", () => taken.length === 4, 20_000);
      assert.deepEqual(taken, ["/stop", "a slow file", "next", "last"]);
    },
  );

  channelTest("a sentence for a person who is refused is shown in their chat", async (far) => {
    const [chat] = far.chats;
    const gateway = recordPublish(() => ({ status: "refused", reply: "I do not know you." }));
    await using _running = startChannel(far.open(), gateway.publish);
    far.write(chat, "hello?");
    await until("the sentence is shown", () => far.shown().length > 0);
    assert.deepEqual(far.shown(), [{ chatId: chat, text: "I do not know you." }]);
    assert.equal(gateway.messages.length, 1);
  });

  channelTest("ends soon after an abort, also before it is connected", async (far) => {
    const gateway = recordPublish();
    const early = startChannel(far.open(), gateway.publish);
    await early.stop();
    assert.equal(await early.ended, undefined);
    const running = startChannel(far.open(), gateway.publish);
    await until("it is connected", () => running.connections() >= 1);
    const began = Date.now();
    await running.stop();
    assert.ok(Date.now() - began < 1000);
    assert.equal(await running.ended, undefined);
  });

  channelTest(
    "a lost connection ends the run with an error that says to try again, and nothing is lost by it",
    async (far) => {
      const [chat] = far.chats;
      const gateway = recordPublish();
      const channel = far.open();
      await using first = startChannel(channel, gateway.publish);
      await until("it is connected", () => first.connections() >= 1);
      far.loseConnection();
      const lost = await first.ended;
      assert.ok(lost instanceof ChannelError && lost.retryable);
      far.write(chat, "meanwhile");
      await using _second = startChannel(channel, gateway.publish);
      await until("the message came", () => gateway.messages.length > 0);
      assert.deepEqual(gateway.texts(), ["meanwhile"]);
    },
  );

  channelTest("a wrong secret ends the run with an error that trying again cannot cure", async (far) => {
    await using running = startChannel(far.openWithWrongSecret(), recordPublish().publish);
    const failure = await running.ended;
    assert.ok(failure instanceof ChannelError && !failure.retryable);
    assert.equal(running.connections(), 0);
    for (const secret of far.secrets) assert.ok(!textsOf(failure).includes(secret));
  });

  // Sending

  channelTest("a sent message is shown once, and has an id", async (far) => {
    const [chat] = far.chats;
    const channel = far.open();
    const first = await channel.send(reply(chat, "Hello **you**"), never);
    const second = await channel.send(reply(chat, "again", { id: "out_1#2" }), never);
    assert.notEqual(first.platformMessageId, "");
    assert.notEqual(first.platformMessageId, second.platformMessageId);
    assert.deepEqual(
      far.shown().map(({ chatId, text }) => [chatId, text.replaceAll("*", "")]),
      [
        [chat, "Hello you"],
        [chat, "again"],
      ],
    );
  });

  channelTest(
    "each way in which a send can fail says whether the message may have arrived and what helps",
    async (far) => {
      const [chat] = far.chats;
      const channel = far.open();
      const failing = async (signal = never) => {
        const failure = await failureOf(channel.send(reply(chat, "x"), signal));
        for (const secret of far.secrets) assert.ok(!textsOf(failure).includes(secret), failure.message);
        return [failure.outcome, failure.retryable, failure.retryAfterMs];
      };
      far.refuseNextSend("for good");
      assert.deepEqual(await failing(), ["refused", false, undefined]);
      far.refuseNextSend("with a wait");
      assert.deepEqual(await failing(), ["refused", true, 1000]);
      far.cutNextSend();
      assert.deepEqual(await failing(), ["unknown", true, undefined]);
      far.hangNextSend();
      assert.deepEqual(await failing(), ["unknown", true, undefined]);
      assert.deepEqual(await failing(AbortSignal.abort()), ["refused", true, undefined]);
      const stop = new AbortController();
      far.hangNextSend();
      const cut = failing(stop.signal);
      setImmediate(() => stop.abort());
      assert.equal((await cut)[1], true);
      assert.deepEqual(far.shown(), []);
    },
  );

  channelTest(
    "cuts a long reply into pieces that the platform takes, with each code block whole in its piece",
    async (far) => {
      const channel = far.open();
      const words = Array.from({ length: 3000 }, (_, index) => `word${index}`);
      const code = Array.from({ length: 800 }, (_, index) => `const line${index} = ${index};`);
      const pieces = channel.split(`${words.join(" ")}\n\n\`\`\`js\n${code.join("\n")}\n\`\`\`\n\nThe end.`);
      if (Number.isFinite(far.longestMessage)) assert.ok(pieces.length > 2);
      for (const piece of pieces) {
        assert.ok(far.lengthOf(piece) <= far.longestMessage);
        assert.equal((piece.match(/^```/gm) ?? []).length % 2, 0);
      }
      const text = pieces.join("\n");
      let at = -1;
      for (const part of [...words, ...code, "The end."]) {
        const next = text.indexOf(part, at + 1);
        assert.ok(next > at, `${part} is in its place`);
        at = next;
      }
      assert.deepEqual(channel.split("short"), ["short"]);
      assert.deepEqual(channel.split(" \n "), []);
    },
  );

  channelTest("what is split can be sent", async (far) => {
    const [chat] = far.chats;
    const channel = far.open();
    const pieces = channel.split("<&> lorem **ipsum** `dolor`\n".repeat(900));
    for (const [n, piece] of pieces.entries()) await channel.send(reply(chat, piece, { id: `out_1#${n + 1}` }), never);
    assert.equal(far.shown().length, pieces.length);
  });

  channelTest(
    "no address of ours is fetched by the platform: not of an answer, a live preview or a notice",
    async (far) => {
      const [chat] = far.chats;
      const address = "https://example.org/?secret=1";
      const channel = far.open();
      const { platformMessageId } = await channel.send(reply(chat, `Look: ${address}`), never);
      await channel.send(reply(chat, `**[here](${address})**`, { id: "out_2#1" }), never);
      await channel.edit?.({ chatId: chat, platformMessageId, content: `Look again: ${address}` }, never);
      const gateway = recordPublish(() => ({ status: "refused", reply: `Ask at ${address}` }));
      await using _running = startChannel(channel, gateway.publish);
      far.write(chat, "hello?");
      await until("the sentence is shown", () => far.shown().length === 3);
      assert.deepEqual(far.previewed?.() ?? [], []);
    },
  );

  // Buttons

  const buttonsTest = (title: string, run: (far: FarSide, buttons: ButtonsFarSide) => Promise<void>): void =>
    channelTest(title, async (far) => {
      if (far.buttons !== undefined) await run(far, far.buttons);
    });
  const buttons = ["Yes", "No", "A much longer label than the others"].map((label, index) => ({
    label,
    value: `ask_0123456789abcdef0123:${index + 1}`,
  }));

  buttonsTest(
    "shows buttons, passes a press on with who pressed it, and tells them what came of it",
    async (far, side) => {
      const [chat, other] = far.chats;
      const presses: ReceivedPress[] = [];
      const outcomes: PressOutcome[] = [
        { status: "taken", text: "Yes" },
        { status: "refused", text: "This is closed." },
        { status: "busy", text: "Later." },
      ];
      const channel = side.open(async (press) => outcomes[presses.push(press) - 1] as PressOutcome);
      assert.ok((channel.maxButtons ?? 0) >= 3);
      await using running = startChannel(channel, recordPublish().publish);
      await until("it is connected", () => running.connections() >= 1);
      await channel.send(reply(chat, "Shall I?", { buttons }), never);
      await channel.send(reply(other, "No buttons", { id: "out_2#1" }), never);
      assert.deepEqual(
        side.below(chat),
        buttons.map(({ label }) => label),
      );
      assert.deepEqual(side.below(other), []);
      assert.deepEqual(far.previewed?.() ?? [], []);
      for (const label of ["Yes", "No", "No"]) side.press(chat, label);
      await until("all are told", () => side.told().length === 3);
      assert.deepEqual(
        presses.map(({ chatId, chatType, value }) => [chatId, chatType, value]),
        [
          [chat, "dm", buttons[0]?.value],
          [chat, "dm", buttons[1]?.value],
          [chat, "dm", buttons[1]?.value],
        ],
      );
      for (const { senderId } of presses) assert.notEqual(senderId, "");
      assert.deepEqual(side.told(), [
        { text: "Yes", isLoud: false },
        { text: "This is closed.", isLoud: true },
        { text: "Later.", isLoud: true },
      ]);
      assert.deepEqual(far.previewed?.() ?? [], []);
    },
  );

  buttonsTest("a press waits for no message of its chat", async (far, side) => {
    const [chat] = far.chats;
    const hold = gate();
    const channel = side.open(async () => ({ status: "taken", text: "Yes" }));
    const gateway = recordPublish(async () => {
      await hold.opened;
      return accepted;
    });
    await using _running = startChannel(channel, gateway.publish);
    await channel.send(reply(chat, "Shall I?", { buttons }), never);
    far.write(chat, "stuck");
    await until("the message came", () => gateway.messages.length > 0);
    side.press(chat, "Yes");
    try {
      await until("the press is told", () => side.told().length === 1);
    } finally {
      hold.open();
    }
  });

  buttonsTest(
    "an edit puts another text in the place of a message and takes its buttons away, or says that it did not",
    async (far, side) => {
      const [chat] = far.chats;
      const channel = side.open(async () => ({ status: "taken", text: "Yes" }));
      const { platformMessageId } = await channel.send(reply(chat, "Shall **I**?", { buttons }), never);
      side.failNextEdit();
      const edit = { chatId: chat, platformMessageId, content: "Shall **I**?\n\n✓ Yes" };
      await failureOf(channel.edit?.(edit, never) ?? Promise.resolve());
      assert.equal(side.below(chat).length, 3);
      await channel.edit?.(edit, never);
      assert.deepEqual([side.text(chat).replaceAll("*", ""), side.below(chat)], ["Shall I?\n\n✓ Yes", []]);
    },
  );
}

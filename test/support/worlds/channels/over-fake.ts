import type { Channel, ChannelContext, OwnChannelContext } from "../../../../src/channels/channel.js";
import type { ButtonsFarSide, FarSide } from "../../../contracts/channel/far-side.js";
import type { FakeChats } from "../../fakes/platform/fake-chats.js";
import type { FakeReply, FakeServer } from "../../fakes/platform/fake-server.js";
import type { ChannelHarness, SendFault } from "./channel-harness.js";

/** A platform's fake, as the shared tests use it. */
export interface FakePlatform {
  readonly server: FakeServer;
  readonly chats: FakeChats;
  /** Name of the call that shows a text, e.g. `/^POST \/messages$/`. */
  readonly sendCall: RegExp;
  readonly editCall?: RegExp;
  /** Calls that break with the connection on which messages come in; WebSockets break anyway. */
  readonly receiveCall?: RegExp;
  /** How the platform says no. Default: the status alone, and `retry-after: 1` with 429. */
  readonly refusal?: (status: number) => FakeReply;
  /** How it says no to what is not the message: to the login, to a right that is missing. */
  readonly passingRefusals?: readonly FakeReply[];
}

/** From a server before the platform that is in trouble. */
const strangeRefusals: readonly FakeReply[] = [401, 403, 404].map((status) => ({
  status,
  body: Buffer.from("<html>not now</html>"),
}));

const plainRefusal = (status: number): FakeReply => ({
  status,
  headers: status === 429 ? { "retry-after": "1" } : {},
  body: { error: `failed with ${status}` },
});

/** A context as the gateway gives it, for a channel that is opened without one. */
export function testContext(more: Partial<ChannelContext> & Partial<OwnChannelContext> = {}): OwnChannelContext {
  const kept = new Map<string, unknown>();
  return {
    cursor: async () => undefined,
    records: {
      get: (id) => kept.get(id),
      put: async (id, value) => void kept.set(id, value),
      delete: async (id) => void kept.delete(id),
      list: () => [...kept].map(([id, value]) => ({ id, value })),
    },
    press: async () => ({ status: "refused", text: "Nobody asked." }),
    sendTimeoutMs: 1000,
    ...more,
  };
}

export interface FarSideParts {
  readonly platform: FakePlatform;
  /** A channel with this context; `isWrong`: with a secret that the platform does not know. */
  readonly open: (context: OwnChannelContext, isWrong?: boolean) => Channel;
  readonly secrets: readonly string[];
  readonly chats: readonly [string, string];
  readonly write: (chatId: string, text: string) => void;
  readonly longestMessage: number;
  /** Default: its characters. */
  readonly lengthOf?: (piece: string) => number;
  /** Absent: the platform has no buttons. */
  readonly press?: (chatId: string, value: string) => void;
  readonly told?: ButtonsFarSide["told"];
  readonly showsPresses?: boolean;
}

/** For `testChannelContract`. */
export function farSideOver({ platform, open, press, told, showsPresses, lengthOf, ...more }: FarSideParts): FarSide {
  const { server, chats, sendCall, editCall = /$^/, receiveCall, refusal = plainRefusal } = platform;
  const passing = [...strangeRefusals, ...(platform.passingRefusals ?? [])];
  return {
    ...more,
    open: (cursor, actsAtOnce) => open(testContext({ ...(cursor === undefined ? {} : { cursor }), actsAtOnce })),
    openWithWrongSecret: () => open(testContext(), true),
    shown: () => chats.all.map(({ chatId, text }) => ({ chatId, text })),
    lengthOf: lengthOf ?? ((piece) => piece.length),
    refuseNextSend: (how) => server.failNext(sendCall, { kind: "answer", ...refusal(how === "for good" ? 400 : 429) }),
    passingRefusals: passing.map((one) => () => server.failNext(sendCall, { kind: "answer", ...one })),
    cutNextSend: () => server.failNext(sendCall, { kind: "cut", carriedOut: false }),
    hangNextSend: () => server.failNext(sendCall, { kind: "hang", carriedOut: false }),
    loseConnection: () => server.loseConnections(receiveCall),
    ...(press === undefined || told === undefined
      ? {}
      : {
          buttons: {
            open: (onPress) => open(testContext({ press: onPress })),
            below: (chatId) => chats.newest(chatId)?.buttons.map(({ label }) => label) ?? [],
            text: (chatId) => chats.newest(chatId)?.text ?? "",
            press(chatId, label) {
              const button = chats.newest(chatId)?.buttons.find((one) => one.label === label);
              if (button === undefined) throw new Error(`There is no button ${label} in ${chatId}`);
              press(chatId, button.value);
            },
            told,
            ...(showsPresses === undefined ? {} : { showsPresses }),
            failNextEdit: () => server.failNext(editCall, { kind: "answer", ...refusal(400) }),
          },
        }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** What of a `ChannelHarness` is the same over each fake. */
export function harnessOver({
  server,
  chats,
  sendCall,
  receiveCall,
  refusal = plainRefusal,
}: FakePlatform): Pick<
  ChannelHarness,
  "shown" | "showings" | "faults" | "failNextSend" | "loseConnection" | typeof Symbol.asyncDispose
> {
  const statuses: Readonly<Partial<Record<SendFault, number>>> = { "429": 429, "401": 401, "404": 404, "5xx": 502 };
  return {
    shown: (chatId, thread) => chats.in(chatId, thread),
    showings: (chatId) => chats.showings(chatId),
    faults: ["429", "401", "404", "5xx", "cut-before", "cut-after", "timeout"],
    failNextSend(fault) {
      const status = statuses[fault];
      const times = fault === "401" || fault === "404" ? 3 : 1;
      if (status !== undefined) server.failNext(sendCall, { kind: "answer", ...refusal(status) }, times);
      else if (fault === "timeout") server.failNext(sendCall, { kind: "hang", carriedOut: true });
      else server.failNext(sendCall, { kind: "cut", carriedOut: fault === "cut-after" });
    },
    loseConnection: () => server.loseConnections(receiveCall),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

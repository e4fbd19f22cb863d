import { until } from "../support/engine/engine-kit.js";
import type { EngineUnderTest } from "./embedded.js";
import { toolPoints } from "./world/tools.js";
import type { World } from "./world/world.js";

/** A place where a process is killed, and how to bring it there. */
export type Point = {
  readonly name: string;
} & (
  | {
      /** `talk`: it is passed while messages are worked on. `stop`: while an orderly stop is under way. */
      readonly during: "talk" | "stop";
      /** As the child names it, if that is not the name. */
      readonly passing?: string;
      /** Prepares the far side. */
      readonly prepare?: (world: World) => void;
    }
  | {
      readonly during: "outside";
      /** Prepares the far side; what it returns resolves when the moment to kill has come. */
      readonly prepare: (world: World) => Promise<unknown>;
    }
);

const limitMs = 30_000;

/** Events after which something of a turn is in the journal, or was told and is not. */
const eventPoints = [
  "message_stream_start",
  "text_delta",
  "message_stream_end",
  "assistant_message",
  "outbound_delivery_changed: sending",
].map((type) => `event ${type}`);

/** More of them, next to a boundary of the engine or to one of the events above. */
const detailPoints = [
  "user_message_queued",
  "turn_execution_start",
  "user_message",
  "session_state_changed",
  "session_title_generated",
  "agent_state_changed",
  "turn_iteration_start",
  "thinking_delta",
  "tool_call_start",
  "tool_input_delta",
  "tool_execution_start",
  "tool_execution_complete",
  "turn_execution_complete",
  "outbound_delivery_changed: queued",
  "outbound_delivery_changed: sent",
].map((type) => `event ${type}`);

/** Seen from the other end of the wire: what the process knows about it is not the same each time. */
const outsidePoints: readonly Point[] = [
  outside("model: asked", async (world) => {
    await new Promise<void>((resolve) => {
      world.onAsked = () => resolve();
    });
  }),
  outside("send: on its way, blind", ({ telegram }) => {
    const before = telegram.calls("sendMessage");
    telegram.hangNext({ method: "sendMessage" });
    return until("a send came", () => telegram.calls("sendMessage") > before, limitMs);
  }),
  outside("send: shown, blind", ({ telegram }) => {
    const before = telegram.sent.length;
    telegram.hangNext({ method: "sendMessage", carriedOut: true });
    return until("a message was shown", () => telegram.sent.length > before, limitMs);
  }),
  outside("send: on its way, with ids", ({ relay }) => relay.hangNextSend("before")),
  outside("send: shown, with ids", ({ relay }) => relay.hangNextSend("after")),
];

const detailsOutside: readonly Point[] = [
  outside("model: answered", async (world) => {
    await new Promise<void>((resolve) => {
      world.onAsked = (request) => void request.closedEarly.then(() => resolve());
    });
  }),
  outside("platform: confirmed to", ({ telegram }) => {
    const before = telegram.confirmedOffset;
    return until("Telegram's offset moved", () => telegram.confirmedOffset > before, limitMs);
  }),
  {
    ...talk("event outbound_delivery_changed: retrying"),
    prepare: ({ telegram }) => telegram.failNext({ method: "sendMessage", status: 500 }),
  },
  {
    ...talk("event outbound_delivery_changed: unknown"),
    prepare: ({ telegram }) => telegram.cutNext({ method: "sendMessage", when: "after" }),
  },
];

/** Every point but those of a message that is buried, which takes several lives. */
export function allPoints({ boundaries, stopBoundaries }: EngineUnderTest): readonly Point[] {
  return [
    ...mainPoints(boundaries),
    ...detailPoints.map(talk),
    ...detailsOutside,
    ...stopBoundaries.map((passing): Point => ({ name: `${passing}, while stopping`, passing, during: "stop" })),
  ];
}

/** Those that a promise names: every boundary at least once. */
export function mainPoints(boundaries: readonly string[]): readonly Point[] {
  return [
    ...[...boundaries, ...eventPoints, ...toolPoints].map(talk),
    ...outsidePoints,
    { name: "document:before-write", during: "stop" },
    { name: "document:after-write", during: "stop" },
  ];
}

function talk(name: string) {
  return { name, during: "talk" as const };
}

function outside(name: string, prepare: (world: World) => Promise<unknown>): Point {
  return { name, during: "outside", prepare };
}

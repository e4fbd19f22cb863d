import { createHash } from "node:crypto";

/** What one gateway and one Postgres are taken to be able to do. The numbers are on the page, with where they come from. */
export interface Assumed {
  readonly chats: number;
  /** Of all chats, in the busiest hour. */
  readonly activeShare: number;
  readonly messagesPerActiveHour: number;
  /** Turns that one gateway works on at the same time. */
  readonly turnsPerGateway: number;
  /** How long a turn takes: the median and the spread (sigma) of a lognormal distribution. */
  readonly turnSeconds: { readonly median: number; readonly sigma: number };
  /** Transactions that one message costs, from being accepted to the receipt of its answer. */
  readonly commitsPerMessage: number;
  /** After so long the turns of a killed gateway go on elsewhere. */
  readonly takeoverSeconds: number;
}

export const assumed: Assumed = {
  chats: 1_000_000,
  activeShare: 0.1,
  messagesPerActiveHour: 12,
  turnsPerGateway: 64,
  turnSeconds: { median: 10, sigma: 0.8 },
  commitsPerMessage: 9,
  takeoverSeconds: 12,
};

/** The cell that a session belongs to: the one whose hash with the key is the highest, so that few move when a cell is added. */
export function cellOf(key: string, cells: number): number {
  const ofKey = createHash("sha256").update(key).digest().readUInt32BE(0);
  let best = 0;
  let highest = -1;
  for (let cell = 0; cell < cells; cell += 1) {
    const value = mixed(ofKey ^ mixed(cell + 1));
    if (value > highest) [best, highest] = [cell, value];
  }
  return best;
}

/** Spreads 32 bits over 32 bits (the end of murmur3). */
function mixed(bits: number): number {
  let value = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

export interface Spread {
  /** Chats of the fullest cell, as part of the mean. */
  readonly fullest: number;
  /** Part of the chats that move when one cell is added. */
  readonly moves: number;
}

/** How evenly keys lie, by so many of them. */
export function spreadOf(cells: number, keys: number): Spread {
  const counts = new Array<number>(cells).fill(0);
  let moved = 0;
  for (let n = 0; n < keys; n += 1) {
    const key = `telegram:${n}`;
    const cell = cellOf(key, cells);
    counts[cell] = (counts[cell] ?? 0) + 1;
    if (cellOf(key, cells + 1) !== cell) moved += 1;
  }
  return { fullest: Math.max(...counts) / (keys / cells), moves: moved / keys };
}

/** The waits of one cell, in seconds: for a free place, once the messages of the chat before it are answered. */
export interface CellWaits {
  readonly median: number;
  readonly p99: number;
  /** Turns that were under way in the gateway that was killed. */
  readonly interrupted: number;
}

interface CellPlan {
  readonly gateways: number;
  readonly messagesPerSecond: number;
  readonly chats: number;
  /** Kills one gateway in the middle of the time, for good. */
  readonly isOneKilled: boolean;
  readonly seconds: number;
}

/** Plays what happens in a cell: messages come by chance, a chat's go one after the other, and a turn needs a place. */
export function playCell(plan: CellPlan, { turnsPerGateway, turnSeconds, takeoverSeconds }: Assumed): CellWaits {
  const random = seeded(7);
  const places: number[] = [];
  const killedAt = plan.isOneKilled ? plan.seconds / 2 : Number.POSITIVE_INFINITY;
  for (let n = 0; n < plan.gateways * turnsPerGateway; n += 1) places.push(0);
  const freeOf = new Map<number, number>();
  const waits: number[] = [];
  let interrupted = 0;
  for (let at = 0; at < plan.seconds; ) {
    at += -Math.log(1 - random()) / plan.messagesPerSecond;
    const chat = Math.floor(random() * plan.chats);
    const earliest = Math.max(at, freeOf.get(chat) ?? 0);
    const last = earliest >= killedAt ? places.length - turnsPerGateway : places.length;
    const place = soonest(places, last);
    const start = Math.max(earliest, places[place] ?? 0);
    const takes = turnSeconds.median * Math.exp(turnSeconds.sigma * gauss(random));
    // Places of the gateway that is killed are the last ones.
    const isCut = place >= places.length - turnsPerGateway && start < killedAt && start + takes > killedAt;
    const end = isCut ? killedAt + takeoverSeconds + takes : start + takes;
    if (isCut) interrupted += 1;
    places[place] = isCut ? Number.POSITIVE_INFINITY : end;
    freeOf.set(chat, end);
    waits.push(start - earliest);
  }
  waits.sort((a, b) => a - b);
  const part = (share: number): number => waits[Math.floor(waits.length * share)] ?? 0;
  return { median: part(0.5), p99: part(0.99), interrupted };
}

function soonest(places: readonly number[], count: number): number {
  let best = 0;
  for (let n = 1; n < count; n += 1) if ((places[n] ?? 0) < (places[best] ?? 0)) best = n;
  return best;
}

/** A row for each way to spread the chats. */
export function cellsTable(from: Assumed = assumed, keys = 20_000): string {
  const perSecond = (from.chats * from.activeShare * from.messagesPerActiveHour) / 3600;
  const meanSeconds = from.turnSeconds.median * Math.exp(from.turnSeconds.sigma ** 2 / 2);
  const rows = [5, 10, 20, 50].map((cells) => {
    const { fullest, moves } = spreadOf(cells, keys);
    const messagesPerSecond = (perSecond / cells) * fullest;
    const atWork = messagesPerSecond * meanSeconds;
    // Room for one that is lost, and a quarter for what comes by chance.
    const gateways = Math.ceil((atWork * 1.25) / from.turnsPerGateway) + 1;
    const plan = {
      gateways,
      messagesPerSecond,
      chats: Math.round((from.chats * from.activeShare) / cells),
      seconds: 240,
    };
    const usual = playCell({ ...plan, isOneKilled: false }, from);
    const killed = playCell({ ...plan, isOneKilled: true }, from);
    const tight = playCell({ ...plan, gateways: gateways - 2, isOneKilled: true }, from);
    return [
      `${cells}`,
      `${Math.round((from.chats / cells) * fullest).toLocaleString("en")}`,
      messagesPerSecond.toFixed(0),
      (messagesPerSecond * from.commitsPerMessage).toFixed(0),
      `${gateways}`,
      `${usual.p99.toFixed(1)} s`,
      `${killed.interrupted}`,
      `${killed.p99.toFixed(1)} s`,
      `${tight.p99.toFixed(1)} s`,
      `${(100 / cells).toFixed(0)} %`,
      `${(100 * moves).toFixed(1)} %`,
    ];
  });
  const head = [
    ...["cells", "chats in the fullest", "messages/s there", "commits/s there", "gateways there", "p99 wait"],
    ...[
      "turns cut by a kill",
      "p99 wait with it",
      "the same with two gateways less",
      "chats of a lost cell",
      "chats that move when one is added",
    ],
  ];
  return [head, head.map(() => "---"), ...rows].map((cellsOfRow) => `| ${cellsOfRow.join(" | ")} |`).join("\n");
}

/** Always the same numbers (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

function gauss(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const begin = "<!-- cells: begin node dist/scripts/cluster/main.js --write -->\n";
const end = "\n<!-- cells: end -->";

/** What the page has of the table. */
export function tableIn(page: string): string {
  return page.slice(page.indexOf(begin) + begin.length, page.indexOf(end));
}

/** The page with this table. */
export function withTable(page: string, table: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end.trim(), from);
  if (from === -1 || to === -1) throw new Error("The page must hold the marks of the table");
  return `${page.slice(0, from)}${begin}${table}${end}${page.slice(to + end.trim().length)}`;
}

import type { Channel, ChannelContext, PressOutcome, ReceivedPress } from "../../../src/channels/channel.js";

/** Some far sides are real servers, and the machine may be busy. */
export const limitMs = 20_000;

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
  /**
   * Each has the next send refused for something that is not the message: its login or a right, or by a server in between
   * that is in trouble. Absent: the platform refuses nothing but messages.
   */
  readonly passingRefusals?: readonly (() => void)[];
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
  /** The platform itself shows what was pressed, as a message of the person: a press that is taken needs no word. */
  readonly showsPresses?: boolean;
  failNextEdit(): void;
}

/** One promise of every channel. `run` gets a platform of its own. */
export interface ChannelTest {
  readonly title: string;
  readonly run: (far: FarSide) => Promise<void>;
}

export function channelTest(title: string, run: ChannelTest["run"]): ChannelTest {
  return { title, run };
}

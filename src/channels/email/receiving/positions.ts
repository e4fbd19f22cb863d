import { z } from "zod";
import type { ChannelContext, ChannelRecords } from "../../channel.js";

/** A place in the mailbox: up to this UID all is settled. */
export interface Position {
  /** The mailbox's UIDVALIDITY: UIDs of another one mean nothing. */
  readonly validity: string;
  readonly uid: number;
}

export interface Positions {
  /** The durable position that moves with each accepted mail. */
  readonly cursorName: string;
  /** Those that are known, the one of the last accepted mail and the one behind mails that nobody took. */
  read(): readonly Position[];
  /** Keeps where reading goes on, as long as no accepted mail has moved it. */
  keep(position: Position): Promise<void>;
}

const record = z.object({ validity: z.string(), uid: z.number().int().nonnegative() });
/** Accepted mails are known again for a week. */
const lookBackMs = 5 * 24 * 3600 * 1000;

export function createPositions(account: string, context: ChannelContext, records: ChannelRecords): Positions {
  const cursorName = `email:${account}`;
  const recordId = `position:${account}`;
  const kept = (): readonly Position[] => {
    const { data } = record.safeParse(records.get(recordId));
    return data === undefined ? [] : [data];
  };
  const accepted = (): readonly Position[] => {
    const [, validity, uid] = /^(\d+):(\d+)$/.exec(context.cursor(cursorName) ?? "") ?? [];
    return validity === undefined ? [] : [{ validity, uid: Number(uid) }];
  };
  const read = (): readonly Position[] => [...accepted(), ...kept()];
  return {
    cursorName,
    read,
    async keep({ validity, uid }) {
      if (read().some((known) => known.validity === validity && known.uid >= uid)) return;
      await records.put(recordId, { validity, uid });
    },
  };
}

export interface Start {
  /** Everything up to here counts as settled. */
  readonly uid: number;
  /** Set when only mail from then on may be new. */
  readonly since?: Date;
  /** No mail of this mailbox was ever read: what is in it already is not answered. */
  readonly isFirst: boolean;
}

/** Where to go on reading a mailbox, given the UID that its next mail will have. */
export function readStart(positions: Positions, validity: string, uidNext: number): Start {
  const known = positions.read();
  const here = known.filter((each) => each.validity === validity).map(({ uid }) => uid);
  if (here.length > 0) return { uid: Math.max(...here), isFirst: false };
  if (known.length === 0) return { uid: Math.max(0, uidNext - 1), isFirst: true };
  return { uid: 0, since: new Date(Date.now() - lookBackMs), isFirst: false };
}

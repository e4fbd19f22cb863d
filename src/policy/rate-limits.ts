export interface RateLimits {
  /** Messages in a minute; 0 means no limit. */
  readonly sender: number;
  readonly chat: number;
}

/** Counts who writes how much, in memory: a flood costs neither disk nor model. */
export interface RateLimiter {
  /**
   * Counts one more message. When it is one too many nothing is counted, and the answer says how long to wait and
   * whether to tell it: once for each row of messages that are too many.
   */
  take(sender: string, chat: string): { readonly waitMs: number; readonly isFirst: boolean } | undefined;
  /** The newest one was not taken after all. */
  giveBack(sender: string, chat: string): void;
}

interface Row {
  /** Unix ms of the newest messages, at most as many as the limit. */
  readonly times: number[];
  wasTold: boolean;
}

const minuteMs = 60_000;
/** Past that those who have been silent for a minute are forgotten. */
const manyRows = 5000;

export function createRateLimiter(limits: () => RateLimits, options: { readonly now: () => number }): RateLimiter {
  const { now } = options;
  const rows = new Map<string, Row>();

  const rowOf = (key: string): Row => {
    const known = rows.get(key);
    if (known !== undefined) return known;
    if (rows.size >= manyRows)
      for (const [each, { times }] of rows) if ((times.at(-1) ?? 0) <= now() - minuteMs) rows.delete(each);
    const row: Row = { times: [], wasTold: false };
    rows.set(key, row);
    return row;
  };

  const waitOf = ({ times }: Row, limit: number): number => {
    const oldest = limit === 0 ? undefined : times.at(-limit);
    if (oldest === undefined) return 0;
    return Math.max(0, oldest + minuteMs - now());
  };

  const both = (sender: string, chat: string): readonly (readonly [Row, number])[] => [
    [rowOf(`sender ${sender}`), limits().sender],
    [rowOf(`chat ${chat}`), limits().chat],
  ];

  return {
    take(sender, chat) {
      const rowsOver = both(sender, chat).filter(([row, limit]) => waitOf(row, limit) > 0);
      if (rowsOver.length > 0) {
        const isFirst = rowsOver.every(([row]) => !row.wasTold);
        for (const [row] of rowsOver) row.wasTold = true;
        return { waitMs: Math.max(...rowsOver.map(([row, limit]) => waitOf(row, limit))), isFirst };
      }
      for (const [row, limit] of both(sender, chat)) {
        if (limit === 0) continue;
        row.times.push(now());
        row.times.splice(0, row.times.length - limit);
        row.wasTold = false;
      }
      return undefined;
    },
    giveBack(sender, chat) {
      for (const [row] of both(sender, chat)) row.times.pop();
    },
  };
}

import { createHash } from "node:crypto";
import { z } from "zod";

/** Where a fact was learned. */
export interface Origin {
  readonly sessionKey: string;
  /** `channel:sender` */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
  /** Where text came from that others wrote and that the model saw at that time. */
  readonly outside?: string | undefined;
}

const origin = z.object({
  sessionKey: z.string(),
  by: z.string(),
  at: z.string(),
  outside: z.string().optional(),
});

interface Kept {
  get(id: string): unknown;
  put(id: string, value: unknown): Promise<void>;
  delete(id: string): Promise<void>;
  list(): readonly { readonly id: string }[];
}

/** Of the facts in MEMORY.md, where the assistant learned them. What a person wrote into the file has no origin. */
export class Learned {
  readonly #records: Kept;

  constructor(records: Kept) {
    this.#records = records;
  }

  of(fact: string): Origin | undefined {
    const read = origin.safeParse(this.#records.get(idOf(fact)));
    return read.success ? read.data : undefined;
  }

  async note(fact: string, where: Origin): Promise<void> {
    await this.#records.put(idOf(fact), where);
  }

  /** Facts that are not in the file any more need none. */
  async keepOnly(facts: readonly string[]): Promise<void> {
    const wanted = new Set(facts.map(idOf));
    for (const { id } of this.#records.list()) if (!wanted.has(id)) await this.#records.delete(id);
  }
}

/** The text itself is in the file alone: who removes it there removes it. */
function idOf(fact: string): string {
  return createHash("sha256").update(fact).digest("hex").slice(0, 32);
}

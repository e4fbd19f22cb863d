import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { PairingRecords } from "../pairing.js";

export interface Invitation {
  /** 128 random bits in base64url. */
  readonly code: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

const stored = z.object({ expiresAt: z.number() });

const prefix = "invitation:";
const validMs = 10 * 60_000;
const mostOpen = 20;

/** Codes that let one more device in: each once, and within ten minutes. Only a hash of them is kept. */
export class Invitations {
  readonly #records: PairingRecords;
  readonly #now: () => number;

  constructor(records: PairingRecords, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  async create(): Promise<Invitation> {
    await this.#makeRoom();
    const code = randomBytes(16).toString("base64url");
    const expiresAt = this.#now() + validMs;
    await this.#records.put(recordIdOf(code), { expiresAt });
    return { code, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** True once for each code, however many ask at the same time. */
  async redeem(code: string): Promise<boolean> {
    let expiresAt = 0;
    // Not as this node sees it: another one may have made it a moment ago.
    await this.#records.update(recordIdOf(code), (value) => {
      expiresAt = stored.safeParse(value).data?.expiresAt ?? 0;
      return undefined;
    });
    return this.#now() < expiresAt;
  }

  async #makeRoom(): Promise<void> {
    const open = this.#records
      .list()
      .filter(({ id }) => id.startsWith(prefix))
      .map(({ id, value }) => ({ id, expiresAt: stored.safeParse(value).data?.expiresAt ?? 0 }))
      .sort((a, b) => b.expiresAt - a.expiresAt);
    const over = open.filter(({ expiresAt }, at) => at >= mostOpen - 1 || expiresAt <= this.#now());
    for (const { id } of over) await this.#records.delete(id);
  }
}

function recordIdOf(code: string): string {
  return prefix + createHash("sha256").update(code).digest("hex");
}

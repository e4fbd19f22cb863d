import { LRUCache } from "lru-cache";
import type { EngineError } from "../errors.js";

/** A chat that cannot take messages. */
export interface StuckChat {
  readonly sessionKey: string;
  /** Unix ms. */
  readonly since: number;
  readonly reason: string;
}

interface Spell extends StuckChat {
  readonly isFull: boolean;
  wasTold: boolean;
}

/** More are not told apart. */
const mostSpells = 2000;

/** A chat whose log fails may be whole again in a moment. */
const patienceMs = 3000;
const full =
  "Too many messages are waiting in this chat. I do not read new ones until I have caught up. Please send it again later.";
const broken =
  "I cannot open the log of this chat, so I did not read your message. I cannot read new ones until my owner has fixed it (see maxclaw status).";

/**
 * Knows which chats cannot take messages, though the disk takes those of others. What is sent there is refused: left with
 * its platform it would keep away what others send.
 */
export class StuckChats {
  readonly #spells = new LRUCache<string, Spell>({ max: mostSpells });
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * What is to happen to a message that its chat could not take. Undefined: it may be taken yet. The person is told
   * once, until the chat has taken something again.
   */
  refusalFor(sessionKey: string, error: EngineError): { readonly reply?: string } | undefined {
    const known = this.#spells.get(sessionKey);
    const isSame = known?.isFull === (error.kind === "lane_full");
    const spell = known !== undefined && isSame ? known : this.#begin(sessionKey, error);
    const { isFull } = spell;
    if (!isFull && this.#now() - spell.since < patienceMs) return undefined;
    if (spell.wasTold) return {};
    spell.wasTold = true;
    return { reply: isFull ? full : broken };
  }

  /** It takes messages. */
  end(sessionKey: string): void {
    this.#spells.delete(sessionKey);
  }

  /** Those whose log fails. How much waits in others their lanes tell. */
  list(): readonly StuckChat[] {
    return [...this.#spells.values()].filter(({ isFull }) => !isFull);
  }

  #begin(sessionKey: string, { kind, message: reason }: EngineError): Spell {
    const spell = { sessionKey, since: this.#now(), reason, isFull: kind === "lane_full", wasTold: false };
    this.#spells.set(sessionKey, spell);
    return spell;
  }
}

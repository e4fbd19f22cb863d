import { LRUCache } from "lru-cache";
import type { CronRecord } from "../cron-api.js";
import type { WaitingQuestion } from "../policy/policy-api.js";
import type { NotificationView } from "./settings-api.js";

export interface NotificationPorts {
  readonly questions: () => readonly WaitingQuestion[];
  readonly runs: () => Promise<readonly CronRecord[]>;
  /** Unix ms. */
  readonly now: () => number;
}

const maxKept = 1000;

/** What was not shown to a person yet: kept nowhere, because questions and runs are. */
export class Notifications {
  readonly #ports: NotificationPorts;
  readonly #since: string;
  readonly #delivered = new LRUCache<string, true>({ max: maxKept });
  readonly #seenAt = new LRUCache<string, string>({ max: maxKept });

  constructor(ports: NotificationPorts) {
    this.#ports = ports;
    this.#since = new Date(ports.now()).toISOString();
  }

  async pending(): Promise<readonly NotificationView[]> {
    const { questions, runs } = this.#ports;
    const asked = questions().map(({ requestId, sessionKey, question }) =>
      this.#toView(requestId, "The assistant asks", question, { sessionKey, requestId }),
    );
    const ended = (await runs())
      .filter(({ endedAt }) => endedAt !== undefined && endedAt >= this.#since)
      .map(({ id, jobId, jobTitle, status, output, error, endedAt }) => ({
        ...this.#toView(id, jobTitle, error ?? output, { jobId, status }),
        createdAt: endedAt ?? this.#since,
      }));
    return [...asked, ...ended].filter(({ id }) => !this.#delivered.has(id));
  }

  markDelivered(id: string): void {
    this.#delivered.set(id, true);
  }

  #toView(id: string, title: string, body: string, data: NotificationView["data"]): NotificationView {
    const createdAt = this.#seenAt.get(id) ?? new Date(this.#ports.now()).toISOString();
    this.#seenAt.set(id, createdAt);
    return { id, title, body, data, createdAt, delivered: false };
  }
}

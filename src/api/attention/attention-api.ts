/** What a browser has subscribed with, as `PushSubscription.toJSON()` gives it. */
export interface PushRequest {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
  /** The endpoint that it had before, whose choices it takes over where it makes none. */
  readonly replaces?: string | undefined;
  readonly language?: "en" | "zh" | undefined;
  /** No sound from 22:00 to 8:00, by the clock of the device. */
  readonly quietNights?: boolean | undefined;
}

/** What a page shows, and whether somebody is there. */
export interface Look {
  /** A name that the page has made up for itself. */
  readonly page: string;
  /** The session that is open, `inbox`, or empty for anything else. */
  readonly at: string;
  /** The page is in front, and somebody has touched it just now. */
  readonly isLooking: boolean;
}

/** Who looks at the page, and how those are reached who do not. */
export interface AttentionApi {
  /** With what browsers subscribe: a key of this gateway, made at the first use. */
  pushKey(): Promise<string>;
  /** `device`: who asks; empty on a gateway without a token. @throws {RequestError} 400 for what nothing can be sent to */
  subscribe(request: PushRequest, device: string): Promise<void>;
  unsubscribe(endpoint: string): Promise<void>;
  /** Counts for 45 seconds. */
  look(look: Look): void;
}

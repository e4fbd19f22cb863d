import type { MatrixStore } from "./store.js";

type Json = Record<string, unknown>;
/** By user, then by device. */
type ByDevice<T> = Record<string, Record<string, T>>;

interface Waiting {
  readonly at: number;
  readonly event: Json;
}

/** What a homeserver keeps for encryption: keys of devices, and messages to them. https://spec.matrix.org/latest/client-server-api/#end-to-end-encryption */
export class KeyServer {
  readonly devices = new Map<string, Map<string, Json>>();
  /** Keys that serve once, by `user device`. */
  readonly oneTime = new Map<string, Map<string, unknown>>();
  readonly fallback = new Map<string, { readonly id: string; readonly key: unknown; used: boolean }>();
  readonly crossSigning = new Map<string, Record<string, Json>>();
  /** Everything that was ever claimed: no key may be twice in it. */
  readonly claimed: string[] = [];
  /** The account's password has to come along. */
  asksForPassword = false;
  readonly #store: MatrixStore;
  readonly #inboxes = new Map<string, Waiting[]>();
  readonly #changed: { readonly at: number; readonly user: string }[] = [];
  readonly #transactions = new Set<string>();

  constructor(store: MatrixStore) {
    this.#store = store;
  }

  upload(user: string, device: string, { device_keys: keys, one_time_keys, fallback_keys }: Json): Json {
    if (keys !== undefined) {
      const known = this.devices.get(user) ?? new Map<string, Json>();
      this.devices.set(user, known.set(device, keys as Json));
      this.#change(user);
    }
    const place = `${user} ${device}`;
    const ours = this.oneTime.get(place) ?? new Map<string, unknown>();
    this.oneTime.set(place, ours);
    for (const [id, key] of Object.entries((one_time_keys ?? {}) as Json)) {
      const known = ours.get(id);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(key))
        throw new Error(`The key ${id} is there`);
      ours.set(id, key);
    }
    for (const [id, key] of Object.entries((fallback_keys ?? {}) as Json))
      this.fallback.set(place, { id, key, used: false });
    return { one_time_key_counts: { signed_curve25519: ours.size } };
  }

  query({ device_keys: asked = {} }: Json): Json {
    const users = Object.keys(asked as Json);
    const pick = (kind: string) =>
      Object.fromEntries(
        users.flatMap((user) =>
          this.crossSigning.get(user)?.[kind] ? [[user, this.crossSigning.get(user)?.[kind]]] : [],
        ),
      );
    return {
      device_keys: Object.fromEntries(users.map((user) => [user, Object.fromEntries(this.devices.get(user) ?? [])])),
      master_keys: pick("master_key"),
      self_signing_keys: pick("self_signing_key"),
      user_signing_keys: pick("user_signing_key"),
      failures: {},
    };
  }

  claim({ one_time_keys: asked = {} }: Json): Json {
    const found: ByDevice<Json> = {};
    for (const [user, devices] of Object.entries(asked as ByDevice<string>))
      for (const device of Object.keys(devices)) {
        const place = `${user} ${device}`;
        const [id, key] = [...(this.oneTime.get(place) ?? [])][0] ?? [];
        const fallback = this.fallback.get(place);
        found[user] ??= {};
        if (id !== undefined) {
          this.oneTime.get(place)?.delete(id);
          this.claimed.push(`${place} ${id}`);
          found[user][device] = { [id]: key };
        } else if (fallback !== undefined) {
          fallback.used = true;
          found[user][device] = { [fallback.id]: fallback.key };
        }
        this.#store.bump();
      }
    return { one_time_keys: found, failures: {} };
  }

  sign(user: string, body: Json): Json {
    for (const [of, objects] of Object.entries(body as ByDevice<Json>))
      for (const [id, signed] of Object.entries(objects)) {
        const device = this.devices.get(of)?.get(id);
        const target = device ?? this.crossSigning.get(of)?.master_key;
        if (target === undefined) continue;
        const merged = (target.signatures ?? {}) as ByDevice<string>;
        const more = (signed.signatures as ByDevice<string>)[user] ?? {};
        target.signatures = { ...merged, [user]: { ...merged[user], ...more } };
      }
    this.#change(user);
    return { failures: {} };
  }

  uploadSigning(user: string, { auth: _auth, ...keys }: Json): void {
    this.crossSigning.set(user, keys as Record<string, Json>);
    this.#change(user);
  }

  sendToDevice(sender: string, type: string, transaction: string, { messages = {} }: Json): Json {
    const key = `${sender} ${type} ${transaction}`;
    if (this.#transactions.has(key)) return {};
    this.#transactions.add(key);
    for (const [user, devices] of Object.entries(messages as ByDevice<Json>))
      for (const [device, content] of Object.entries(devices))
        for (const one of device === "*" ? (this.devices.get(user)?.keys() ?? []) : [device])
          this.#inbox(user, one).push({ at: this.#store.bump(), event: { type, sender, content } });
    return {};
  }

  /** Lets the messages that wait for a device wait on, and gives them back to call. */
  holdMail(user: string, device: string): () => void {
    const inbox = this.#inbox(user, device);
    const held = inbox.splice(0);
    return () => {
      for (const { event } of held) inbox.push({ at: this.#store.bump(), event });
    };
  }

  /** What `/sync` says beside rooms; it forgets what was read. Undefined: nothing is new. */
  news(user: string, device: string, since: number | undefined): Json | undefined {
    const place = `${user} ${device}`;
    const inbox = this.#inbox(user, device);
    // Who asks from here on has everything before it.
    inbox.splice(0, inbox.filter(({ at }) => at <= (since ?? 0)).length);
    const changed = [...new Set(this.#changed.filter(({ at }) => at > (since ?? 0)).map((one) => one.user))];
    const fallback = this.fallback.get(place);
    if (since !== undefined && inbox.length === 0 && changed.length === 0) return undefined;
    return {
      to_device: { events: inbox.map(({ event }) => event) },
      device_lists: { changed: since === undefined ? [] : changed, left: [] },
      ...this.counts(user, device),
      device_unused_fallback_key_types: fallback?.used === false ? ["signed_curve25519"] : [],
    };
  }

  counts(user: string, device: string): Json {
    return { device_one_time_keys_count: { signed_curve25519: this.oneTime.get(`${user} ${device}`)?.size ?? 0 } };
  }

  #inbox(user: string, device: string): Waiting[] {
    const place = `${user} ${device}`;
    const known = this.#inboxes.get(place) ?? [];
    this.#inboxes.set(place, known);
    return known;
  }

  #change(user: string): void {
    this.#changed.push({ at: this.#store.bump(), user });
  }
}

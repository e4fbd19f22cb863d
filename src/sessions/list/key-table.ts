const colon = 0x3a;
const underscore = 0x5f;
const free = 0xffffffff;
const removed = -1;

/**
 * The keys of all sessions, each with a number. They are kept as bytes in one piece: 100,000 strings and a map of them would take
 * four times as much, and a second of the collector's time while they are made. A key becomes a string when somebody asks for it.
 */
export class KeyTable {
  #bytes = Buffer.allocUnsafeSlow(16 * 1024);
  #used = 0;
  /** Of what is used, by keys that are gone. */
  #dead = 0;
  #starts = new Uint32Array(1024);
  #lengths = new Uint32Array(1024);
  #hashes = new Uint32Array(1024);
  /** Numbers and one, by their keys' hashes; 0 where none ever was. */
  #slots = new Int32Array(4096);
  /** Slots that are not 0. */
  #taken = 0;
  /** One more than the highest number. */
  #end = 0;
  readonly #free: number[] = [];
  #scratch = new Uint8Array(512);

  get size(): number {
    return this.#end - this.#free.length;
  }

  /** One more than the highest number that a key has. */
  get end(): number {
    return this.#end;
  }

  *numbers(): IterableIterator<number> {
    for (let number = 0; number < this.#end; number += 1) if (this.isUsed(number)) yield number;
  }

  isUsed(number: number): boolean {
    return number < this.#end && this.#starts[number] !== free;
  }

  keyOf(number: number): string {
    if (!this.isUsed(number)) return "";
    const start = this.#starts[number] ?? 0;
    return this.#bytes.toString("utf8", start, start + (this.#lengths[number] ?? 0));
  }

  /** Whether the key of this number begins so. */
  hasPrefix(number: number, prefix: Uint8Array): boolean {
    const start = this.#starts[number] ?? 0;
    if (prefix.length > (this.#lengths[number] ?? 0)) return false;
    for (let n = 0; n < prefix.length; n += 1) if (this.#bytes[start + n] !== prefix[n]) return false;
    return true;
  }

  /** Below 0 where the key of `a` comes before that of `b`. Without making strings of them. */
  compare(a: number, b: number): number {
    const bytes = this.#bytes;
    const [startA = 0, startB = 0] = [this.#starts[a], this.#starts[b]];
    const [lengthA = 0, lengthB = 0] = [this.#lengths[a], this.#lengths[b]];
    for (let n = 0; n < lengthA && n < lengthB; n += 1) {
      const difference = (bytes[startA + n] ?? 0) - (bytes[startB + n] ?? 0);
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }

  /** How many keys begin so. */
  countPrefix(prefix: Uint8Array): number {
    let count = 0;
    for (let number = 0; number < this.#end; number += 1)
      if (this.isUsed(number) && this.hasPrefix(number, prefix)) count += 1;
    return count;
  }

  find(key: string): number | undefined {
    const bytes = this.#encoded(key);
    return this.findBytes(bytes, 0, bytes === this.#scratch ? key.length : bytes.length);
  }

  findBytes(bytes: Uint8Array, from: number, to: number): number | undefined {
    const found = this.#slots[this.#slotOf(bytes, from, to, hashOf(bytes, from, to))] ?? 0;
    return found > 0 ? found - 1 : undefined;
  }

  /** The key of which a plain file name's first letters are made: `telegram_42` of `telegram:42`. Undefined also where it is not plain. */
  findFile(name: string, length: number): number | undefined {
    if (length > this.#scratch.length) this.#scratch = new Uint8Array(2 * length);
    const scratch = this.#scratch;
    let cut = -1;
    for (let n = 0; n < length; n += 1) {
      const code = name.charCodeAt(n);
      if (code > 0x7f || code === colon) return undefined;
      const isCut = cut === -1 && code === underscore;
      if (isCut) cut = n;
      scratch[n] = isCut ? colon : code;
    }
    return cut < 1 ? undefined : this.findBytes(scratch, 0, length);
  }

  /** The number of the key, a new one if need be. */
  add(key: string): number {
    const bytes = this.#encoded(key);
    return this.addBytes(bytes, 0, bytes === this.#scratch ? key.length : bytes.length);
  }

  addBytes(bytes: Uint8Array, from: number, to: number): number {
    const hash = hashOf(bytes, from, to);
    const slot = this.#slotOf(bytes, from, to, hash);
    const found = this.#slots[slot] ?? 0;
    if (found > 0) return found - 1;
    const number = this.#free.pop() ?? this.#end;
    if (number === this.#end) this.#end += 1;
    if (number >= this.#starts.length) this.#widen();
    this.#makeRoom(to - from);
    this.#bytes.set(bytes.subarray(from, to), this.#used);
    this.#starts[number] = this.#used;
    this.#lengths[number] = to - from;
    this.#hashes[number] = hash;
    this.#used += to - from;
    this.#slots[slot] = number + 1;
    if (found === 0) this.#taken += 1;
    if (2 * this.#taken > this.#slots.length) this.#rehash();
    return number;
  }

  /** The number that it had. */
  delete(key: string): number | undefined {
    const number = this.find(key);
    if (number === undefined) return undefined;
    const bytes = this.#encoded(key);
    const length = this.#lengths[number] ?? 0;
    this.#slots[this.#slotOf(bytes, 0, length, this.#hashes[number] ?? 0)] = removed;
    this.#starts[number] = free;
    this.#dead += length;
    this.#free.push(number);
    return number;
  }

  /** Its UTF-8. Void with the next call; of a key in ASCII it is the beginning of a piece that is used again. */
  #encoded(key: string): Uint8Array {
    if (key.length > this.#scratch.length) this.#scratch = new Uint8Array(2 * key.length);
    const scratch = this.#scratch;
    for (let n = 0; n < key.length; n += 1) {
      const code = key.charCodeAt(n);
      if (code > 0x7f) return Buffer.from(key);
      scratch[n] = code;
    }
    return scratch;
  }

  /** The slot that has the key, or the one for it. */
  #slotOf(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let usable = -1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0;
      if (found === 0) return usable === -1 ? slot : usable;
      if (found === removed) {
        if (usable === -1) usable = slot;
      } else if (this.#hashes[found - 1] === hash && this.#isAt(found - 1, bytes, from, to)) return slot;
    }
  }

  #isAt(number: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts[number] ?? 0;
    if (this.#lengths[number] !== to - from) return false;
    for (let n = 0; n < to - from; n += 1) if (this.#bytes[start + n] !== bytes[from + n]) return false;
    return true;
  }

  /** For the bytes of one more key. Those of keys that are gone make room first. */
  #makeRoom(length: number): void {
    if (this.#used + length <= this.#bytes.length) return;
    const live = this.#used - this.#dead + length;
    const isFull = 2 * live > this.#bytes.length;
    const wider = Buffer.allocUnsafeSlow(isFull ? 2 * Math.max(live, this.#bytes.length) : this.#bytes.length);
    let used = 0;
    for (const number of this.numbers()) {
      const start = this.#starts[number] ?? 0;
      const end = start + (this.#lengths[number] ?? 0);
      wider.set(this.#bytes.subarray(start, end), used);
      this.#starts[number] = used;
      used += end - start;
    }
    this.#bytes = wider;
    this.#used = used;
    this.#dead = 0;
  }

  #rehash(): void {
    let length = 4096;
    while (length < 4 * this.size) length *= 2;
    this.#slots = new Int32Array(length);
    this.#taken = this.size;
    for (const number of this.numbers()) {
      let slot = (this.#hashes[number] ?? 0) & (length - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (length - 1);
      this.#slots[slot] = number + 1;
    }
  }

  #widen(): void {
    const widened = (column: Uint32Array): Uint32Array<ArrayBuffer> => {
      const copy = new Uint32Array(column.length * 2);
      copy.set(column);
      return copy;
    };
    this.#starts = widened(this.#starts);
    this.#lengths = widened(this.#lengths);
    this.#hashes = widened(this.#hashes);
  }
}

/** FNV-1a, mixed once more: the last digits of keys are what they differ in. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let n = from; n < to; n += 1) hash = Math.imul(hash ^ (bytes[n] ?? 0), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

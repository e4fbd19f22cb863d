import assert from "node:assert/strict";
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

/** A browser's subscription, with the private half that only the browser has. */
export interface FakeBrowser {
  readonly subscription: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
  decrypt(body: Buffer): string;
}

export interface ReceivedPush {
  readonly path: string;
  readonly text: string;
  readonly ttl: number;
  readonly urgency: string;
}

/** A push service on this machine: it checks who sends, and reads what only the browser could. */
export interface FakePushService extends AsyncDisposable {
  readonly host: string;
  readonly received: readonly ReceivedPush[];
  /** How the next requests are answered; then 201 again. */
  readonly answers: number[];
  /** How many came, also those that were refused. */
  readonly requests: () => number;
  subscribe(name: string): FakeBrowser;
}

/** @param publicKey the key that browsers have subscribed with, as the gateway names it */
export async function startFakePushService(publicKey: () => string): Promise<FakePushService> {
  const browsers = new Map<string, FakeBrowser>();
  const received: ReceivedPush[] = [];
  const answers: number[] = [];
  const faults: unknown[] = [];
  let requests = 0;
  const server = createServer(async (request, response) => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { headers, url: path = "" } = request;
    try {
      const { host = "" } = headers;
      assertSender(headers.authorization ?? "", `http://${host}`, publicKey());
      assert.equal(request.method, "POST");
      assert.equal(headers["content-encoding"], "aes128gcm");
      const body = Buffer.concat(chunks);
      assert.ok(body.length <= 4096, `${body.length} bytes`);
      const status = answers.shift() ?? 201;
      if (status === 201) {
        const text = browsers.get(path)?.decrypt(body) ?? "";
        received.push({ path, text, ttl: Number(headers.ttl), urgency: String(headers.urgency) });
      }
      response.writeHead(status).end("said by the push service");
    } catch (error) {
      faults.push(error);
      response.writeHead(400).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  return {
    host,
    received,
    answers,
    requests: () => requests,
    subscribe(name) {
      const browser = createBrowser(`http://${host}/${name}`);
      browsers.set(`/${name}`, browser);
      return browser;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      assert.deepEqual(faults, []);
    },
  };
}

export function createBrowser(endpoint: string): FakeBrowser {
  const own = createECDH("prime256v1");
  own.generateKeys();
  const auth = randomBytes(16);
  const keys = { p256dh: own.getPublicKey("base64url"), auth: auth.toString("base64url") };
  return {
    subscription: { endpoint, keys },
    decrypt: (body) => decryptPush(body, own.getPrivateKey(), auth).toString(),
  };
}

/** https://www.rfc-editor.org/rfc/rfc8291, from the side of the browser. */
export function decryptPush(body: Buffer, privateKey: Buffer, auth: Buffer): Buffer {
  const own = createECDH("prime256v1");
  own.setPrivateKey(privateKey);
  const salt = body.subarray(0, 16);
  const recordSize = body.readUInt32BE(16);
  const sender = body.subarray(21, 21 + body.readUInt8(20));
  const record = body.subarray(21 + sender.length);
  assert.ok(record.length <= recordSize);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), own.getPublicKey(), sender]);
  const secret = Buffer.from(hkdfSync("sha256", own.computeSecret(sender), auth, info, 32));
  const part = (name: string, length: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, salt, Buffer.from(`Content-Encoding: ${name}\0`), length));
  const decipher = createDecipheriv("aes-128-gcm", part("aes128gcm", 16), part("nonce", 12));
  decipher.setAuthTag(record.subarray(-16));
  const plain = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = plain.lastIndexOf(2);
  assert.ok(end >= 0 && plain.subarray(end + 1).every((byte) => byte === 0), "the record ends as it has to");
  return plain.subarray(0, end);
}

/** https://www.rfc-editor.org/rfc/rfc8292: one origin, a day at most, signed with the key that was subscribed with. */
function assertSender(authorization: string, origin: string, publicKey: string): void {
  const [, token = "", key = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
  assert.equal(key, publicKey);
  const [head = "", claims = "", signature = ""] = token.split(".");
  assert.deepEqual(JSON.parse(Buffer.from(head, "base64url").toString()), { typ: "JWT", alg: "ES256" });
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, "base64url").toString());
  assert.equal(aud, origin);
  assert.ok(exp * 1000 > Date.now() && exp * 1000 < Date.now() + 86_400_000);
  assert.match(sub, /^(https:|mailto:)/);
  const point = Buffer.from(key, "base64url");
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  const verifier = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const signed = { key: verifier, dsaEncoding: "ieee-p1363" } as const;
  assert.ok(verify("sha256", Buffer.from(`${head}.${claims}`), signed, Buffer.from(signature, "base64url")));
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { encryptPush, isPoint, mostPlainBytes } from "../../../src/push/encrypt.js";
import { createBrowser, decryptPush } from "../../support/fakes/push-service.js";

const bytes = (text: string): Buffer => Buffer.from(text, "base64url");

test("the browser of these tests reads the example of RFC 8291", () => {
  const body =
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
  const privateKey = bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94");
  const text = decryptPush(bytes(body), privateKey, bytes("BTBZMqHH6r4Tts7J_aSIgg")).toString();
  assert.equal(text, "When I grow up, I want to be a watermelon");
});

test("what is encrypted only its browser reads, up to the most that a push service takes", () => {
  const browser = createBrowser("https://push.example/1");
  const { p256dh, auth } = browser.subscription.keys;
  const keys = { p256dh: bytes(p256dh), auth: bytes(auth) };
  for (const text of ["", "a", "é".repeat(500), "x".repeat(mostPlainBytes)]) {
    const body = encryptPush(Buffer.from(text), keys);
    assert.ok(body.length <= 4096);
    assert.equal(browser.decrypt(body), text);
    assert.throws(() => createBrowser("https://push.example/2").decrypt(body));
    if (text.length > 20) assert.ok(!body.includes(text.slice(0, 20)));
  }
  assert.equal(encryptPush(Buffer.alloc(mostPlainBytes), keys).length, 4096);
  assert.throws(() => encryptPush(Buffer.alloc(mostPlainBytes + 1), keys), /3993/);
  assert.notDeepEqual(encryptPush(Buffer.from("a"), keys), encryptPush(Buffer.from("a"), keys));
});

test("a key that is not a point of the curve is not taken", () => {
  const { p256dh } = createBrowser("https://push.example/1").subscription.keys;
  assert.equal(isPoint(bytes(p256dh)), true);
  assert.equal(isPoint(Buffer.alloc(65, 4)), false);
  assert.equal(isPoint(bytes(p256dh).subarray(1)), false);
  assert.equal(isPoint(Buffer.alloc(0)), false);
});

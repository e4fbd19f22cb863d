import assert from "node:assert/strict";
import { test } from "node:test";
import { sectionOf, textsOf, toField } from "../../../../src/web/panes/channels/fields.js";

const fields = [
  toField({ key: "host", kind: "server", port: { key: "port", tlsKey: "tls" } }),
  toField({ key: "password", kind: "secret" }),
  toField({ key: "people", kind: "ids" }),
  toField({ key: "apiRoot", kind: "text" }),
  toField({ key: "consent", kind: "consent" }),
];
const section = {
  host: "imap.example.org",
  port: 993,
  password: "********",
  people: ["a@b.c", "d@e.f"],
  apiRoot: "http://127.0.0.1:1",
  consent: true,
};

test("a form shows what the config has, and nothing of secrets", () => {
  assert.deepEqual(textsOf(fields, section), {
    host: "imap.example.org:993",
    password: "",
    people: "a@b.c, d@e.f",
    apiRoot: "http://127.0.0.1:1",
    consent: "yes",
  });
  assert.deepEqual(Object.values(textsOf(fields, { apiRoot: "********" })), ["", "", "", "", ""]);
});

test("only what is changed is written, what is emptied goes, and an empty secret stays", () => {
  const before = textsOf(fields, section);
  assert.deepEqual(sectionOf(fields, {}, before), {});
  assert.deepEqual(sectionOf(fields, { ...before, password: "" }, before), {});
  assert.deepEqual(sectionOf(fields, { apiRoot: " ", host: "mail.example.org:465", consent: "" }, before), {
    apiRoot: null,
    host: "mail.example.org",
    port: 465,
    tls: true,
    consent: false,
  });
  assert.deepEqual(sectionOf(fields, { password: "new", people: "a@b.c" }, before), {
    password: "new",
    people: ["a@b.c"],
  });
  const host = "imap.example.org";
  assert.deepEqual(sectionOf(fields, { host }, before), { host, port: null, tls: null }, "the usual port");
  assert.deepEqual(sectionOf(fields, { host, apiRoot: "" }, textsOf(fields, {})), { host });
});

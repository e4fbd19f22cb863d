import assert from "node:assert/strict";
import { test } from "node:test";
import { readTelemetrySettings } from "../../../src/telemetry/settings.js";

const none = { headers: {}, content: false };

function settingsOf(env: Record<string, string>, config: Partial<Parameters<typeof readTelemetrySettings>[0]> = {}) {
  const settings = readTelemetrySettings({ ...none, ...config }, env);
  assert.ok(typeof settings === "object", String(settings));
  return settings;
}

test("no traces are sent without an address, or where OpenTelemetry is switched off", () => {
  assert.equal(readTelemetrySettings(none, { OTEL_SERVICE_NAME: "x" }), undefined);
  assert.equal(readTelemetrySettings({ ...none, otlpEndpoint: "http://a" }, { OTEL_SDK_DISABLED: "true" }), undefined);
});

test("the address of the config goes before that of the environment, and an address for traces alone is used as it is", () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://env:4318/";
  const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = "https://traces/in";
  const otlpEndpoint = "http://config:4318";
  assert.equal(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT }).url, "http://env:4318/v1/traces");
  assert.equal(
    settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT }).url,
    "https://traces/in",
  );
  assert.equal(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT }, { otlpEndpoint }).url, "http://config:4318/v1/traces");
  assert.equal(settingsOf({}, { otlpEndpoint: "http://a/v1/traces" }).url, "http://a/v1/traces");
});

test("headers, resource, compression and time limit come from the environment too", () => {
  const settings = settingsOf(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://a",
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Basic%20abc, X-A = b=c ,broken,%zz=%zz",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=home,service.name=other",
      OTEL_SERVICE_NAME: "mine",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_EXPORTER_OTLP_TIMEOUT: "250",
    },
    { headers: { "X-A": "config" } },
  );
  assert.deepEqual(settings.headers, { Authorization: "Basic abc", "X-A": "config", "%zz": "%zz" });
  assert.deepEqual(settings.resource, { "service.name": "mine", "deployment.environment.name": "home" });
  assert.equal(settings.isCompressed, true);
  assert.equal(settings.timeoutMs, 250);
  const plain = settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_TIMEOUT: "soon" });
  assert.equal(plain.timeoutMs, 10_000);
  assert.deepEqual(plain.resource, { "service.name": "maxclaw" });
});

test("an address of another protocol is a sentence that names the setting", () => {
  const found = readTelemetrySettings({ ...none, otlpEndpoint: "grpc://a:4317" }, {});
  assert.match(String(found), /does not begin with http:\/\/ or https:\/\/\. Check telemetry\.otlpEndpoint/);
});

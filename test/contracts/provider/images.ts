import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { ModelRequest } from "../../../src/providers/provider.js";
import { collect, hello, open, type WireUnderTest } from "./calls.js";

export function imagesTests(name: string, wire: WireUnderTest): void {
  describe(`${name}: images`, () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );

    async function sent(file: string, mimeType: string): Promise<string> {
      await using setup = await open(wire, { text: "ok" });
      const content: ModelRequest["messages"][number]["content"] = [
        { type: "text", text: "what is this?" },
        { type: "image", mime_type: mimeType, path: file, filename: "photo.png" },
      ];
      await collect(setup.provider, { ...hello, messages: [{ role: "user", content }] });
      return setup.server.requests[0]?.bodyText ?? "";
    }

    test("an image goes along as it is on the disk", async () => {
      const folder = await mkdtemp(join(tmpdir(), "maxclaw-image-"));
      try {
        const file = join(folder, "photo.png");
        await writeFile(file, png);
        const body = await sent(file, "image/png");
        assert.ok(body.includes(png.toString("base64")));
        assert.ok(body.includes("image/png") && body.includes("what is this?"));
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    test("one that is gone, or is none whatever it is said to be, is told in its place", async () => {
      assert.match(await sent("/nowhere/photo.png", "image/png"), /photo\.png cannot be shown: the file is gone/);
      const folder = await mkdtemp(join(tmpdir(), "maxclaw-image-"));
      try {
        const file = join(folder, "photo.png");
        await writeFile(file, "<html>not found</html>");
        const body = await sent(file, "image/png");
        assert.match(body, /photo\.png cannot be shown: it is not a JPEG, PNG, GIF or WebP/);
        assert.doesNotMatch(body, /image\/png/);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  });
}

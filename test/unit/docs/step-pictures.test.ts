import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { platformNames } from "../../../src/channels/platforms.js";
import { projectFile } from "../../support/project.js";

const read = (path: string): string => readFileSync(projectFile(path), "utf8");

test("the page of each channel shows where to click, for those who cannot see it as well, in light and dark", () => {
  // The page of the gateway itself needs no steps elsewhere.
  const names = platformNames.filter((name) => name !== "websocket");
  for (const name of names) {
    const [, alt = "", file = ""] = /!\[([^\]]+)\]\((images\/steps\/[\w-]+\.svg)\)/.exec(read(`docs/${name}.md`)) ?? [];
    assert.equal(file, `images/steps/${name}.svg`);
    assert.ok(alt.length > 60, `${name}: its picture is not told in words`);
    const picture = read(`docs/${file}`);
    assert.ok(picture.includes(`<title>${alt.replaceAll("&", "&amp;")}</title>`), `${name}: two texts for one picture`);
    assert.ok(picture.includes("prefers-color-scheme:dark"), `${name}: it cannot be read in the dark`);
    assert.ok(picture.length < 8192, `${name}: it is too large`);
    assert.doesNotMatch(picture, /<script|<image|href=|url\(/);
  }
  assert.equal(readdirSync(projectFile("docs/images/steps")).length, names.length);
});

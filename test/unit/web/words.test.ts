import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { valuePaths } from "../../../src/config/shape.js";
import { projectFile } from "../../support/project.js";

type Catalogue = Readonly<Record<string, string>>;

interface Found {
  readonly file: string;
  readonly en: Catalogue;
  readonly zh: Catalogue;
}

/** Names and signs that are the same in both languages. */
const sameEverywhere = /^[^\p{L}]*$|^(?:maxclaw|MCP|API|URL|Markdown|JSON|Telegram|Discord|ID)[^\p{L}]*$/u;

describe("the words of the page", () => {
  let folder = "";
  let found: readonly Found[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "maxclaw-words-"));
    found = await wordsBelow(projectFile("src/web"), folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("are found", () => {
    assert.ok(found.length >= 3, `${found.length} lists of words`);
  });

  test("are there in each language, with the same values to fill in", () => {
    for (const { file, en, zh } of found) {
      assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort(), file);
      for (const [key, text] of Object.entries(en)) {
        assert.deepEqual(placeholdersOf(zh[key]), placeholdersOf(text), `${file}: ${key}`);
      }
    }
  });

  test("are translated: nothing is empty, and Chinese is Chinese", () => {
    for (const { file, en, zh } of found) {
      for (const [key, text] of Object.entries(en)) assert.ok(text.trim() !== "", `${file}: ${key}`);
      for (const [key, text] of Object.entries(zh)) {
        const words = text.replace(/\{\w+\}/g, "");
        assert.ok(/\p{Script=Han}/u.test(words) || sameEverywhere.test(words), `${file}: ${key} is “${text}”`);
      }
    }
  });

  test("name no key of the config file: people know a setting by its label", () => {
    const keys = valuePaths().flatMap((path) => (path.length > 1 ? [path.join(".")] : []));
    for (const { file, en, zh } of found)
      for (const text of [...Object.values(en), ...Object.values(zh)])
        assert.deepEqual(
          keys.filter((key) => text.includes(key)),
          [],
          `${file}: ${text}`,
        );
  });
});

function placeholdersOf(text = ""): readonly string[] {
  return [...new Set(text.match(/\{\w+\}/g))].sort();
}

/** The page is not compiled as the program is, so its lists of words are bundled here. */
async function wordsBelow(root: string, folder: string): Promise<readonly Found[]> {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?:^|\/)words\.ts$/.test(file),
  );
  const input = Object.fromEntries(files.map((file) => [file.replaceAll("/", "_"), join(root, file)]));
  const bundle = await rolldown({ input });
  await bundle.write({ dir: folder, entryFileNames: "[name].mjs" });
  await bundle.close();
  const modules = await Promise.all(
    files.map(async (file) => {
      // Whatever a file of words exports.
      const exported = (await import(pathToFileURL(join(folder, `${file.replaceAll("/", "_")}.mjs`)).href)) as object;
      return Object.values(exported).flatMap((value: unknown): Found[] => (isWords(value) ? [{ file, ...value }] : []));
    }),
  );
  return modules.flat();
}

function isWords(value: unknown): value is { readonly en: Catalogue; readonly zh: Catalogue } {
  return typeof value === "object" && value !== null && "en" in value && "zh" in value;
}

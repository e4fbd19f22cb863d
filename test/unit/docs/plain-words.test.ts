import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectFile } from "../../support/project.js";
import { textsIn } from "../../support/rules/regexp-literals.js";

/** Words that are hard for people whose second language is English, each with what to write. */
const quaint: readonly { readonly words: RegExp; readonly write: string }[] = [
  { words: /\bstands?\b(?!-| (?:for|in for|still|out)\b)/gi, write: "is, are" },
  { words: /\b(?:told|tells?|telling|hears?|heard|hearing) of\b/gi, write: "told about, tells about, hears about" },
  { words: /\bsays of\b/gi, write: "says about" },
  {
    words: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|such\b)/gi,
    write: "is not a, are not",
  },
  { words: /\bshall\b/gi, write: "should, must, is to" },
  { words: /\bin the place of\b/gi, write: "instead of" },
  { words: /\bthat which\b/gi, write: "what" },
  { words: /\bwho(?:m)?ever\b/gi, write: "anyone who, no matter who" },
  { words: /\b(?:brings?|brought) forth\b/gi, write: "produces" },
  { words: /\banew\b/gi, write: "again" },
  { words: /\b(?:came|becomes?|became) of\b/gi, write: "the result of, what happened to" },
  { words: /[,;(] ?but for\b/gi, write: "except for" },
  { words: /\b(?:upon|as yet|lest|thereof|whence|hence)\b/gi, write: "on, so far, so that not, of it, from where, so" },
];

/** The few uses that may stay: words that are the subject of the text, and those that wait for a change nearby. */
const allowed: readonly { readonly file: string; readonly text: string }[] = [
  { file: "src/config/live/config-watch.ts", text: "tells of" },
  { file: "src/config/live/config-watch.ts", text: "told of" },
];

function filesBelow(folder: string, end: string): readonly string[] {
  return readdirSync(projectFile(folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(end))
    .map((file) => join(folder, file))
    .sort();
}

/** What is quaint in a text: the words with those around them, and what to write instead. */
function quaintIn(text: string): readonly string[] {
  return quaint.flatMap(({ words, write }) =>
    [...text.matchAll(words)].map(({ 0: found, index }) => {
      const around = text.slice(Math.max(0, index - 30), index + found.length + 20).replace(/\s+/g, " ");
      return `“${around.trim()}”: write “${write}”`;
    }),
  );
}

const isAllowed = (file: string, fault: string): boolean =>
  allowed.some((one) => one.file === file && fault.includes(one.text));

test("the pages use plain words", () => {
  const pages = ["README.md", "SECURITY.md", "CHANGELOG.md", "AGENTS.md"];
  const read = [...pages, ...["docs", "examples", "skills"].flatMap((folder) => filesBelow(folder, ".md"))];
  assert.ok(read.length > 100, `${read.length} pages`);
  const faults = read.flatMap((file) =>
    quaintIn(readFileSync(projectFile(file), "utf8"))
      .filter((fault) => !isAllowed(file, fault))
      .map((fault) => `${file}: ${fault}`),
  );
  assert.deepEqual(faults, []);
});

test("what the program says, and its comments, use plain words", () => {
  const files = filesBelow("src", ".ts");
  assert.ok(files.length > 500, `${files.length} files`);
  const faults = files.flatMap((file) =>
    textsIn(readFileSync(projectFile(file), "utf8")).flatMap(({ text, line }) =>
      quaintIn(text.replace(/\n\s*\*/g, ""))
        .filter((fault) => !isAllowed(file, fault))
        .map((fault) => `${file}:${line}: ${fault}`),
    ),
  );
  assert.deepEqual(faults, []);
});

test("quaint words are found in comments, strings and templates, and not in code", () => {
  const code = [
    "// what is no key",
    "const stands = piece.stands; // stands for a letter",
    `const sentence = \`A text \${stands} is told of it\`;`,
    "/* There is no room, and no rule",
    " * that tells us. */",
    "const other = 'in the place of'; const rule = /anew/;",
  ].join("\n");
  assert.deepEqual(
    textsIn(code).flatMap(({ text, line }) => quaintIn(text).map((fault) => `${line}: ${fault}`)),
    [
      "1: “// what is no key”: write “is not a, are not”",
      "3: “} is told of it`”: write “told about, tells about, hears about”",
      "6: “'in the place of'”: write “instead of”",
    ],
  );
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { commandNodes, knownArguments, knownOptions } from "../../../../src/cli/completion/tree.js";
import { createProgram } from "../../../../src/cli/program.js";
import { type CliSandbox, openCli } from "../../../support/worlds/cli.js";
import { withoutProgram } from "../../../support/worlds/needs.js";
import { keys, runInPty } from "../../../support/worlds/pty.js";

const run = promisify(execFile);
const folderOf = (cli: CliSandbox): string => join(dirname(cli.home), "bin");

/** A home with something to complete, and `maxclaw` on the search path. */
async function openHome(): Promise<CliSandbox & { readonly path: string }> {
  const cli = await openCli();
  const sessions = join(cli.home, "workspace", ".sessions");
  await mkdir(sessions, { recursive: true, mode: 0o700 });
  for (const name of [
    "telegram_42",
    "telegram_-100",
    "cli_default",
    "email_ada%40example.org",
    "cli_$(date)",
    "cli_a%60b",
    "cli_a>b",
  ])
    await writeFile(join(sessions, `${name}.events.jsonl`), "");
  const config = {
    providers: { acme: { apiBase: "http://127.0.0.1:9/v1", models: ["small", "large"] } },
    tools: { mcpServers: { files: { command: "x" }, forge: { command: "y" } } },
  };
  await writeFile(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  await mkdir(folderOf(cli));
  const program = join(folderOf(cli), "maxclaw");
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${cli.program}' "$@"\n`);
  await chmod(program, 0o755);
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await cli.run(["completion", shell]);
    assert.equal(code, 0);
    await writeFile(join(folderOf(cli), shell), stdout);
  }
  return { ...cli, path: `${folderOf(cli)}:${process.env.PATH}` };
}

const lines: readonly (readonly [string, readonly string[]])[] = [
  ["maxclaw onb", ["onboard"]],
  ["maxclaw sessions ", ["delete", "export", "fork", "help", "list", "sent", "show"]],
  ["maxclaw sessions show telegram:", ["telegram:-100", "telegram:42"]],
  ["maxclaw sessions show e", ["email:ada@example.org"]],
  ["maxclaw agent --session cl", ["cli:default"]],
  ["maxclaw agent -s cl", ["cli:default"]],
  ["maxclaw mcp test f", ["files", "forge"]],
  ["maxclaw onboard --model acme/", ["acme/large", "acme/small"]],
  ["maxclaw onboard --channel e", ["email"]],
  ["maxclaw onboard --provider acme --channel e", ["email"]],
  ["maxclaw onboard --key-s", ["--key-stdin"]],
  ["maxclaw config set gateway.po", ["gateway.port"]],
  ["maxclaw add storage-p", ["storage-postgres"]],
  ["maxclaw completion ", ["bash", "fish", "help", "zsh"]],
  ["maxclaw cron remove ", []],
  ["maxclaw nonsense sh", []],
];

describe("the completion of commands", () => {
  it("knows only arguments and options that there are", () => {
    const nodes = commandNodes(createProgram());
    const args = nodes.flatMap(({ path, args: own }) => own.map(() => path));
    for (const key of Object.keys(knownArguments)) assert.ok(args.includes(key.slice(0, key.lastIndexOf(" "))), key);
    const options = new Set(nodes.flatMap(({ path, options: own }) => own.map(({ name }) => `${path} ${name}`)));
    for (const key of Object.keys(knownOptions)) assert.ok(options.has(key), key);
    const resolved = nodes.flatMap(({ args: own }) => own).filter(({ kind }) => kind !== "unknown");
    assert.equal(resolved.length, Object.keys(knownArguments).length, "an argument has another name");
  });

  it("completes commands, options and values in bash", async () => {
    await using cli = await openHome();
    const ask = `source "$1"; shift
      for line in "$@"; do COMP_LINE="$line" COMP_POINT=\${#line}; _maxclaw; printf '%s|' "\${COMPREPLY[@]}"; echo; done`;
    const env = { ...cli.env, PATH: cli.path };
    const typed = lines.map(([line]) => line);
    const { stdout, stderr } = await run("bash", ["-c", ask, "bash", join(folderOf(cli), "bash"), ...typed], { env });
    assert.equal(stderr, "");
    const answers = stdout.split("\n").map((line) =>
      line
        .split("|")
        .filter((word) => word !== "")
        .sort(),
    );
    // Behind a colon bash has a word of its own.
    const behind = (line: string, words: readonly string[]) =>
      words.map((one) => (line.endsWith(":") ? one.slice(one.indexOf(":") + 1) : one));
    for (const [at, [line, words]] of lines.entries()) assert.deepEqual(answers[at], behind(line, words), line);
  });

  it("completes file names in bash where files are meant", async () => {
    await using cli = await openHome();
    const ask = `source "$1"; cd "$2"; COMP_LINE="maxclaw gateway --config con"; COMP_POINT=\${#COMP_LINE}; _maxclaw; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await run("bash", ["-c", ask, "bash", join(folderOf(cli), "bash"), cli.home], {
      env: { ...cli.env, PATH: cli.path },
    });
    assert.equal(stdout, "config.json\n");
  });

  it("answers Tab in a bash that somebody types into", { skip: withoutProgram("script") }, async () => {
    await using cli = await openHome();
    const env = { ...cli.env, PATH: cli.path, PS1: "$ ", INPUTRC: "/dev/null" };
    await using pty = runInPty(["bash", "--norc", "--noprofile", "-i"], env);
    await pty.see(/\$ /);
    pty.type(`source ${join(folderOf(cli), "bash")}${keys.enter}`);
    await pty.see(/\$ /);
    pty.type("echo x; maxclaw sess\t");
    await pty.see(/maxclaw sessions /);
    pty.type("sh\t");
    await pty.see(/show /);
    pty.type("telegram:4\t");
    await pty.see(/telegram:42 /);
  });

  it("completes the same in zsh", { skip: withoutProgram("zsh") }, async () => {
    await using cli = await openHome();
    await run("zsh", ["-n", join(folderOf(cli), "zsh")]);
    const env = { ...cli.env, PATH: cli.path };
    await using pty = runInPty(["zsh", "-f", "-i"], env);
    pty.type(
      `PS1='$ '; autoload -U compinit; compinit -D -u; source ${join(folderOf(cli), "zsh")}; echo rea''dy${keys.enter}`,
    );
    await pty.see(/\nready/);
    pty.type("maxclaw sess\t");
    await pty.see(/maxclaw sessions /);
    pty.type("sh\t");
    await pty.see(/show /);
    pty.type("telegram:4\t");
    await pty.see(/telegram:42 /);
  });

  it("completes the same in fish", { skip: withoutProgram("fish") }, async () => {
    await using cli = await openHome();
    const env = { ...cli.env, PATH: cli.path };
    const script = [
      "source $argv[1]",
      "for line in $argv[2..-1]",
      "complete -C $line | string replace -r '\\t.*' ''",
      "echo ---",
      "end",
    ];
    const typed = lines.map(([line]) => line);
    const { stdout } = await run("fish", ["-c", script.join("\n"), join(folderOf(cli), "fish"), ...typed], { env });
    const answers = stdout.split("---\n").map((part) =>
      part
        .split("\n")
        .filter((word) => word !== "")
        .sort(),
    );
    for (const [at, [line, words]] of lines.entries()) assert.deepEqual(answers[at], words, line);
  });
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { ToolAccess, ToolTraits, ToolUse } from "../../../src/policy/access.js";
import { parseWords } from "../../../src/policy/commands/shell-words.js";
import { createPolicy, type PolicyOptions } from "../../../src/policy/policy.js";
import type { PolicyRule } from "../../../src/policy/rules.js";
import { globOf, matchesGlob } from "../../../src/util/files/glob.js";
import { assertSoon } from "../../support/cost.js";
import { projectFile } from "../../support/project.js";

const workspace = "/srv/maxclaw-test/workspace";
const folder = `${workspace}/.sessions/telegram_42`;
const exec: ToolTraits = { name: "exec", effect: "write", risk: "access" };
const defaults: PolicyOptions = {
  executionMode: "ask",
  workspace,
  home: "/srv/maxclaw-test",
  restrictToWorkspace: false,
  owners: [],
  channels: {},
};

function decide(rules: readonly PolicyRule[], access: ToolAccess, tool: ToolTraits = exec): string {
  const speaker = { channel: "telegram", senderId: "42", chatType: "dm", role: "owner", audience: "owner" } as const;
  const use: ToolUse = { tool, access, folder, speaker };
  return createPolicy({ ...defaults, rules }).mayUseTool(use).verdict;
}

const run = (command: string): ToolAccess => ({ kind: "command", command, isSandboxed: false });
const allow = (argument: string): PolicyRule => ({ tool: "exec", argument, verdict: "allow" });
const allows = (argument: string, command: string): boolean => decide([allow(argument)], run(command)) === "allow";

test("a refusal by a rule names the command or the path that was compared", () => {
  const speaker = { channel: "telegram", senderId: "42", chatType: "dm", role: "owner", audience: "owner" } as const;
  const policy = createPolicy({ ...defaults, rules: [{ tool: "none", verdict: "ask" }, { verdict: "deny" }] });
  const sentenceOf = (tool: ToolTraits, access: ToolAccess): string => {
    const decision = policy.mayUseTool({ tool, access, folder, speaker });
    assert.equal(decision.verdict, "deny");
    return decision.verdict === "deny" ? decision.sentence : "";
  };
  assert.equal(sentenceOf(exec, run("git push")), "exec may not run git push: policy.rules[1] denies it.");
  assert.match(
    sentenceOf({ ...exec, name: "write_file" }, { kind: "write", path: `${workspace}/notes/a.md` }),
    /^write_file may not write .*notes\/a\.md: policy\.rules\[1\] denies it\.$/,
  );
});

test("plain words are read as every shell reads them", () => {
  for (const [command, ...words] of [
    ["git log -5", "git", "log", "-5"],
    ["  git\tlog  ", "git", "log"],
    [`git commit -m "two words" 'and $more'`, "git", "commit", "-m", "two words", "and $more"],
    [`a"b"'c'd`, "abcd"],
    [`x "" ''`, "x", "", ""],
    [`x a\\ b \\$HOME \\"`, "x", "a b", "$HOME", '"'],
    [`x "a\\"b\\\\c\\$d"`, "x", 'a"b\\c$d'],
    ["git show HEAD~1 HEAD^ a#b k=v~/x", "git", "show", "HEAD~1", "HEAD^", "a#b", "k=v~/x"],
    ["ls größe/日本", "ls", "größe/日本"],
  ] as const)
    assert.deepEqual(parseWords(command), words, command);
});

test("what a shell makes something else of has no words", () => {
  const made = [
    "a;b",
    "a&b",
    "a|b",
    "a>b",
    "a<b",
    "a$b",
    "a$(b)",
    "a`b`",
    "(a)",
    "{a,b}",
    "a*",
    "a?",
    "[ab]",
    "~",
    "~root",
  ];
  const more = ["x=~", "x:~", "#x", "!x", "a\\n", "a\\"];
  for (const command of [
    ...[...made, ...more].map((word) => `git ${word}`),
    "A=b git log",
    "PATH=. git log",
    "a[0]=1 git",
    "a+=1 git",
    "git log\nid",
    "git log\rid",
    "git \u202elog",
    "git lo\u200bg",
    "git \u{e0041}",
    "git \u0000",
    "git \u001b[2J",
    "git \u3164x",
    'git "$HOME"',
    'git "`id`"',
    'git "a!b"',
    'git "a\\nb"',
    'git "open',
    "git 'open",
    "git \\",
    "git a\u00a0b",
    "git =ls",
    "",
    "   ",
    `git ${"x".repeat(10_001)}`,
  ])
    assert.equal(parseWords(command), undefined, JSON.stringify(command));
});

test("the words that are read are those that bash runs", async () => {
  const { execFileSync } = await import("node:child_process");
  const alphabet = [
    "a",
    "b",
    " ",
    "'",
    '"',
    "\\",
    "~",
    "=",
    "#",
    "^",
    "%",
    ":",
    "-",
    "/",
    ".",
    ",",
    "@",
    "+",
    "_",
    "é",
    "$",
    "*",
    "\t",
  ];
  let seed = 7;
  const random = (n: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * n);
  };
  const readable: { readonly command: string; readonly words: readonly string[] }[] = [];
  for (let round = 0; round < 60_000 && readable.length < 1500; round += 1) {
    const tail = Array.from({ length: 1 + random(9) }, () => alphabet[random(alphabet.length)]).join("");
    const command = `args ${tail}`;
    const words = parseWords(command);
    if (words !== undefined) readable.push({ command, words });
  }
  assert.ok(readable.length >= 1000, `${readable.length}`);
  const script = [`args() { printf '%s\\0' "$#" "$@"; }`, ...readable.map(({ command }) => command)].join("\n");
  const told = execFileSync("/bin/bash", ["--norc", "-c", script], { cwd: "/", encoding: "utf8" }).split("\0");
  for (const { command, words } of readable) {
    const count = Number(told.shift());
    assert.deepEqual(told.splice(0, count), words.slice(1), command);
  }
});

test("a rule for one program allows no other, however it is written", () => {
  assert.ok(allows("git *", "git log --oneline -5"));
  assert.ok(allows("git *", "git 'log'  -- 'a b'"));
  assert.ok(allows("git *", "git --version"));
  assert.ok(allows("git *", "git"));
  assert.ok(allows("git *", "git --no-pager diff HEAD~1"));
  for (const attack of [
    // Behind it, in it, in front of it.
    "git log; id",
    "git log && id",
    "git log | sh",
    "git log > /etc/passwd",
    "git log $(id)",
    "git log\nid",
    "PATH=/tmp git log",
    "export PATH=/tmp; git log",
    "./git log",
    "/tmp/git log",
    "gitx log",
    "GIT log",
    // Its own options that run others, also abbreviated, and what a repository of others says.
    "git -c alias.x=!id x",
    "git -c core.sshCommand=id fetch",
    "git --exec-path=/tmp log",
    "git --config-env=alias.x=X x",
    "git -C /tmp/theirs status",
    "git --git-dir=/tmp/theirs log",
    "git --git-dir /tmp/theirs log",
    "git -p log",
    "git theirs",
    "git config --global alias.x '!id'",
    "git clone --upload-pack=id x y",
    "git clone --upload-pac=id x y",
    "git clone -u id x y",
    "git clone -c core.sshCommand=id x",
    "git clone --config core.sshCommand=id x",
    "git clone 'ext::sh -c id'",
    "git fetch ext::id",
    "git push --receive-pack=id x",
    "git push --exec=id x",
    "git ls-remote --exec=id x",
    "git rebase --exec id HEAD",
    "git rebase -x id HEAD",
    "git grep -Oid x",
    "git grep -nOid x",
    "git grep --open-files-in-pager=id x",
    "git difftool -x id",
    "git submodule foreach id",
    "git bisect run id",
    "git filter-branch --tree-filter id",
    "git log --ext-diff",
    "git diff --output=/tmp/x",
    "git init --template=/tmp/hooks",
    "git help log",
  ])
    assert.ok(!allows("git *", attack), attack);
  // What the rule names itself is its owner's.
  assert.ok(allows("git -C /srv/site *", "git -C /srv/site status"));
  assert.ok(!allows("git -C /srv/site *", "git -C /srv/other status"));
  assert.ok(!allows("git -C /srv/site *", "git -C /srv/site -c alias.x=!id x"));
});

test("programs that run what they are told are allowed by whole commands only", () => {
  for (const [rule, attack] of [
    ["env *", "env id"],
    ["xargs *", "xargs id"],
    ["sh *", "sh -c id"],
    ["bash *", "bash -c id"],
    ["find *", "find . -exec id ';'"],
    ["find *", "find . -delete"],
    ["find /srv *", "find /srv -fprintf /tmp/x a"],
    ["tar *", "tar --to-command=id -xf x"],
    ["tar *", "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=id x"],
    ["ssh *", "ssh -o ProxyCommand=id x"],
    ["sed *", "sed 1e x"],
    ["awk *", "awk 'BEGIN{system(\"id\")}'"],
    ["vim *", "vim -c '!id'"],
    ["less *", "less x"],
    ["man *", "man -P id x"],
    ["perl *", "perl -e id"],
    ["python3.12 *", "python3.12 -c id"],
    ["/usr/bin/python3 *", "/usr/bin/python3 -c id"],
    ["node *", "node -e id"],
    ["npm *", "npm run x"],
    ["npm run *", "npm run x"],
    ["make *", "make x"],
    ["sudo *", "sudo id"],
    ["timeout *", "timeout 5 id"],
    ["rsync *", "rsync -e id a b"],
    ["sort *", "sort --compress-program=id x"],
    ["sort *", "sort --compress-pr=id x"],
    ["rg *", "rg --pre=id x"],
    ["curl *", "curl -sK x"],
    [". *", ". x"],
    ["eval *", "eval id"],
  ] as const)
    assert.ok(!allows(rule, attack), `${rule}: ${attack}`);
  assert.ok(allows("npm run build", "npm run build"));
  assert.ok(allows("npm run build", 'npm  "run" build'));
  assert.ok(!allows("npm run build", "npm run build -- --x"));
  assert.ok(allows("find /srv/photos *", "find /srv/photos -name '*.jpg'"));
});

test("words of a rule are whole words: a `*` within one stands for a part of it, and for no option", () => {
  assert.ok(allows("ls *", "ls"));
  assert.ok(allows("ls *", "ls -l a b"));
  assert.ok(!allows("ls", "ls -l"));
  assert.ok(allows("cat notes/*.txt", "cat notes/a.txt"));
  assert.ok(!allows("cat notes/*.txt", "cat notes/a.txt notes/b.txt"));
  assert.ok(!allows("cat notes/*.txt", "cat other/a.txt"));
  assert.ok(allows("systemctl status *.service", "systemctl status nginx.service"));
  assert.ok(!allows("systemctl status *.service", "systemctl status --host=evil.service"));
  assert.ok(allows("ping -c ? example.org", "ping -c 3 example.org"));
  assert.ok(!allows("ping -c ? example.org", "ping -c 33 example.org"));
  assert.ok(allows("echo '*'", "echo '*'"));
  assert.ok(!allows("echo '*'", "echo x"));
  // A rule for a path is one for that path; a place beside what others write is none.
  assert.ok(allows("/usr/bin/uptime", "/usr/bin/uptime"));
  assert.ok(!allows("/usr/bin/uptime", "uptime"));
  assert.ok(!allows("uptime", "/usr/bin/uptime"));
  assert.ok(!allows("./run.sh", "./run.sh"));
});

test("a rule that can never allow a command is named as a problem", () => {
  const rules = ["git *", "git log; id", "*", "sh *", "./x", "make all"].map(allow);
  const { problems } = createPolicy({ ...defaults, rules });
  assert.deepEqual(
    problems.map((problem) => problem.split(" ")[0]),
    ["policy.rules[1]", "policy.rules[2]", "policy.rules[3]", "policy.rules[4]"],
  );
  for (const problem of problems) assert.match(problem, /allows no command: .+\.$/);
});

test("a rule without an argument still allows every command", () => {
  assert.equal(decide([{ tool: "exec", verdict: "allow" }], run("a; b | c")), "allow");
});

test("a broad deny is not in the way of what a later rule allows", () => {
  const call = (command: string): ToolAccess => ({ kind: "call", input: { command } });
  const rules: PolicyRule[] = [{ tool: "exec", verdict: "deny" }, allow("git *")];
  assert.equal(decide(rules, call("git --version")), "allow");
  assert.equal(decide(rules, run("git --version")), "allow");
  assert.equal(decide(rules, run("id")), "deny");
  assert.equal(decide([allow("git *"), { tool: "exec", verdict: "deny" }], call("git --version")), "deny");
  assert.equal(decide([{ tool: "exec", verdict: "deny" }], call("git --version")), "deny");
  // A later rule for another tool or another person opens nothing, and a deny for some input stays one.
  const others: PolicyRule[] = [
    { tool: "exec", verdict: "deny" },
    { tool: "write_file", argument: "x", verdict: "allow" },
    { tool: "exec", argument: "git *", role: "guest", verdict: "allow" },
  ];
  assert.equal(decide(others, call("git --version")), "deny");
  const network: PolicyRule[] = [{ tool: "exec", argument: '*"network":true*', verdict: "deny" }, allow("git *")];
  assert.equal(decide(network, { kind: "call", input: { command: "git fetch", network: true } }), "deny");
});

test("a rule that denies a command finds it however it is written", () => {
  const deny: PolicyRule = { tool: "exec", argument: "*rm -rf*", verdict: "deny" };
  for (const command of [
    "rm -rf ~",
    "true && rm -rf ~",
    "rm  -rf x",
    "rm\t-rf x",
    "'rm' -rf x",
    "r\\m -rf x",
    'r""m -rf x',
    "RM -RF x",
    "rm \\\n-rf x",
    "\uff52\uff4d -rf x",
  ])
    assert.equal(decide([deny], run(command)), "deny", command);
  assert.equal(decide([{ argument: "shutdown *", verdict: "deny" }], run("/sbin/shutdown now")), "deny");
  assert.equal(decide([deny], run("rmdir x")), "ask");
});

const fetcher: ToolTraits = { name: "web_fetch", effect: "read", risk: "access" };
const visit = (url: string): ToolAccess => ({ kind: "network", url, sends: false });

test("a rule that denies an address finds it however either of them is written", () => {
  const denies = (argument: string, url: string): boolean =>
    decide([{ argument, verdict: "deny" }], visit(url), fetcher) === "deny";
  for (const [argument, url] of [
    ["example.org", "https://example.org./"],
    ["example.org.", "https://example.org/"],
    ["EXAMPLE.org", "https://example.ORG/x"],
    ["*.internal.example.org", "https://a.internal.example.org.:8443/x"],
    ["*.Internal.example.org.", "https://a.internal.example.org/x"],
    ["münchen.de", "https://xn--mnchen-3ya.de/"],
    ["xn--mnchen-3ya.de", "https://münchen.de/"],
    ["*.münchen.de", "https://www.xn--mnchen-3ya.de/"],
    ["mün*.de", "https://münchen.de/"],
    ["example.org", "https://exam%70le.org/"],
    ["exam%70le.org", "https://example.org/"],
    ["example.org", "https://ｅｘａｍｐｌｅ.org/"],
    ["example。org", "https://example.org/"],
    ["127.0.0.1", "http://2130706433/"],
    ["127.0.0.1", "http://0x7f.1/"],
    ["127.0.0.1", "http://0177.0.0.1/"],
    ["127.0.0.1", "http://127.1/"],
    ["0x7f.1", "http://127.0.0.1/"],
    ["127.0.0.1", "http://[::ffff:127.0.0.1]/"],
    ["[::1]", "http://[0:0:0:0:0:0:0:1]/"],
    ["::1", "http://[::1]:8080/"],
    ["[0:0::1]", "http://[::1]/"],
    ["https://example.org:443/*", "https://example.org/x"],
    ["https://example.org/*", "https://example.org:443/x"],
    ["https://example.org/*", "HTTPS://user@EXAMPLE.org./x"],
    ["https://example.org", "https://example.org/"],
    ["https://example.org/admin*", "https://example.org/%61dmin"],
    ["https://example.org/%61dmin*", "https://example.org/admin"],
    ["example.org:443", "https://example.org/"],
    ["example.org:8080", "http://example.org.:8080/"],
  ] as const)
    assert.ok(denies(argument, url), `${argument} means ${url}`);
  for (const [argument, url] of [
    ["example.org", "https://example.org.evil.net/"],
    ["example.org", "https://notexample.org/"],
    ["*.example.org", "https://example.org/"],
    ["example.org:8080", "https://example.org/"],
    ["127.0.0.1", "http://127.0.0.2/"],
  ] as const)
    assert.ok(!denies(argument, url), `${argument} does not mean ${url}`);
});

test("a rule that denies a path finds it however either of them is written", () => {
  const read = (path: string): ToolAccess => ({ kind: "read", path });
  const reader: ToolTraits = { name: "read_file", effect: "read", risk: "access" };
  const denies = (argument: string, path: string): boolean =>
    decide([{ argument, verdict: "deny" }], read(path), reader) === "deny";
  for (const [argument, path] of [
    ["Notes/*", `${workspace}/notes/a`],
    ["notes/*", `${workspace}/NOTES/a`],
    ["größe.txt".normalize("NFD"), `${workspace}/größe.txt`],
    ["größe.txt", `${workspace}/${"größe.txt".normalize("NFD")}`],
    ["GRÖSSE.txt", `${workspace}/größe.txt`],
    ["notes/", `${workspace}/notes`],
    ["./notes/*", `${workspace}/notes/a`],
    ["notes//a", `${workspace}/notes/a`],
    ["x/../notes/a", `${workspace}/notes/a`],
    [`${workspace}/notes/`, `${workspace}/notes`],
  ] as const)
    assert.ok(denies(argument, path), `${argument} means ${path}`);
  assert.ok(!denies("notes/*", `${workspace}/notes2/a`));
  // What is allowed is allowed as it is written.
  const writer: ToolTraits = { name: "write_file", effect: "idempotent", risk: "access" };
  const write: ToolAccess = { kind: "write", path: `${workspace}/NOTES/a` };
  assert.equal(decide([{ argument: "notes/*", verdict: "allow" }], write, writer), "ask");
});

test("a pattern with many stars takes no longer than text and pattern are long", () => {
  assert.ok(matchesGlob(globOf("*a*b?c*"), "xxaxxb😀cxx"));
  assert.ok(!matchesGlob(globOf("a?"), "a"));
  const text = "a".repeat(200_000);
  for (const pattern of ["*a*a*a*b", `${"*a".repeat(200)}b`, "*aaaaaaaa*aaaaaaaa*aaaaaaaab"])
    assertSoon(() => assert.equal(matchesGlob(globOf(pattern), text), false), 3000, pattern.slice(0, 20));
  assertSoon(() => assert.equal(decide([{ argument: "*a*a*a*b", verdict: "deny" }], run(text)), "ask"), 3000);
});

test("the rules that the docs and the example config show are safe as they are there", () => {
  const shown = [
    ...readFileSync(projectFile("docs/approvals.md"), "utf8").matchAll(/\{ "[^\n]*"verdict": "\w+" \}/g),
    ...readFileSync(projectFile("config.example.json"), "utf8").matchAll(/\{ "[^\n]*"verdict": "\w+" \}/g),
  ].map(([text]) => JSON.parse(text) as PolicyRule);
  const commands = shown.filter(({ tool, verdict }) => tool === "exec" && verdict === "allow");
  assert.ok(commands.length > 0);
  assert.deepEqual(createPolicy({ ...defaults, rules: shown }).problems, []);
  for (const rule of commands)
    for (const attack of [
      "; id",
      " -c alias.x=!id x",
      " --exec=id",
      " --upload-pack=id",
      " -o ProxyCommand=id",
      " > /tmp/x",
      " --pre=id",
      " --output=/tmp/x",
      " -exec id ';'",
      "\nid",
    ]) {
      const start = (rule.argument ?? "").replace(/ ?\*$/, "").replaceAll("*", "x");
      assert.ok(parseWords(start) !== undefined, start);
      assert.notEqual(decide([rule], run(`${start}${attack}`)), "allow", `${start}${attack}`);
      assert.notEqual(decide([rule], run(`PATH=. ${start}`)), "allow");
      assert.notEqual(decide([rule], run(`cd /tmp; ${start}`)), "allow");
    }
});

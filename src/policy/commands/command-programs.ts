import { trimEndWhere } from "../../util/text/trim-where.js";

/** Programs that run what their arguments say, or what is in the folder: `*` behind them would stand for anything. */
const runners: ReadonlySet<string> = new Set(
  `
  sh bash dash zsh ksh mksh fish csh tcsh busybox toybox pwsh rbash
  . source eval exec command builtin coproc time env nohup nice ionice timeout setsid stdbuf watch xargs parallel entr
  sudo doas su runuser pkexec chroot unshare nsenter setpriv systemd-run machinectl start-stop-daemon run-parts flock
  taskset chrt strace ltrace gdb lldb perf script expect screen tmux at batch crontab bwrap firejail proot fakeroot
  rlwrap dbus-run-session cgexec launchctl open xdg-open osascript trap alias
  awk gawk mawk nawk sed ed ex vi vim view nvim emacs nano pico less more most man info bat fzf
  perl python pypy ruby node nodejs deno bun tsx ts-node php lua luajit tclsh wish guile racket sbcl julia r rscript
  octave gnuplot java jshell groovy scala kotlin dc m4 groff troff tex latex pdflatex xelatex lualatex gs convert magick
  make gmake cmake ninja meson scons just task npm npx pnpm pnpx yarn bunx corepack cargo go mvn mvnw gradle gradlew ant
  sbt rake bundle gem pip pipx uv uvx poetry tox pytest jest composer dotnet mix cabal stack bazel nix
  docker podman nerdctl kubectl lxc incus ansible ansible-playbook terraform vagrant gh
  ssh scp sftp rsync wget ftp lftp telnet nc ncat netcat socat nmap tcpdump mosh
  tar zip cpio sqlite psql mysql mariadb openssl gcc g++ cc c++ clang++ cpp clang ld ld.so ar
  apt apt-get dpkg rpm dnf yum zypper pacman brew snap flatpak port
  `
    .trim()
    .split(/\s+/),
);

/** Of those, and of others, what looks into the folder that it starts in for what to run. */
const followers: ReadonlySet<string> = new Set(
  `
  make gmake cmake ninja meson scons just task npm npx pnpm pnpx yarn bunx corepack cargo go mvn mvnw gradle gradlew ant
  sbt rake bundle poetry tox pytest jest composer dotnet mix cabal stack bazel nix docker podman vagrant terraform git hg
  svn vi vim view nvim emacs
  `
    .trim()
    .split(/\s+/),
);

/** Options that run a program, or write where the caller says. Long ones count abbreviated too. */
const options: Readonly<Record<string, readonly string[]>> = {
  find: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"],
  sort: ["--compress-program"],
  split: ["--filter"],
  rg: ["--pre", "--hostname-bin"],
  ag: ["--pager"],
  fd: ["--exec", "--exec-batch", "-x", "-X"],
  curl: ["--config", "-K", "--engine"],
  hg: ["--config"],
  svn: ["--config-option", "--diff-cmd", "--diff3-cmd", "--editor-cmd"],
};

/** Git's own commands that run nothing but what the repository's config names. An alias cannot take their names. */
const gitCommands: ReadonlySet<string> = new Set(
  `
  add annotate archive blame branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone commit
  count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck grep init log ls-files
  ls-remote ls-tree merge merge-base mv name-rev notes pull push range-diff reflog remote reset restore rev-list rev-parse
  revert rm shortlog show show-branch show-ref stash status switch tag version whatchanged worktree
  `
    .trim()
    .split(/\s+/),
);
const gitFlags: ReadonlySet<string> = new Set(["--version", "--no-pager", "-P", "--no-optional-locks"]);
const gitOptions: readonly string[] = `--exec --exec-path --upload-pack --receive-pack --extcmd --ext-diff --textconv
  --open-files-in-pager --config --config-env --template --output --git-dir --work-tree --separate-git-dir --pager -c -C`
  .trim()
  .split(/\s+/);

/** One word of a command. `isFixed`: the rule names it as it is. */
export interface RuledWord {
  readonly text: string;
  readonly isFixed: boolean;
}

/** Whether a program runs whatever its arguments say: then no rule with `*` allows it. */
export function runsAnything(program: string): boolean {
  return runners.has(plainName(program));
}

/** Whether it runs what is in the folder that it starts in, without being told. */
export function followsFolder(program: string): boolean {
  return followers.has(plainName(program));
}

/** Whether words that a rule leaves open make the program run another one. */
export function opensMore([program, ...words]: readonly RuledWord[]): boolean {
  if (program === undefined || runsAnything(program.text)) return true;
  const name = plainName(program.text);
  if (name === "git") return opensMoreOfGit(words);
  const risky = Object.hasOwn(options, name) ? (options[name] ?? []) : [];
  return words.some(({ text, isFixed }) => !isFixed && risky.some((option) => isOption(text, option)));
}

function opensMoreOfGit(words: readonly RuledWord[]): boolean {
  // What a rule names itself in front of the command (`git -C /srv/site *`) is its owner's.
  const at = words.findIndex(({ text, isFixed }) => !isFixed || gitCommands.has(text));
  const rest = words.slice(at === -1 ? words.length : at);
  const start = rest.findIndex(({ text }) => !gitFlags.has(text));
  const [command, ...more] = start === -1 ? [] : rest.slice(start);
  if (command === undefined) return false;
  if (!gitCommands.has(command.text)) return true;
  return more.some(
    ({ text, isFixed }) =>
      !isFixed &&
      (gitOptions.some((option) => isOption(text, option)) ||
        /^[a-z0-9+.-]+::/i.test(text) ||
        (command.text === "clone" && text.startsWith("-u")) ||
        (command.text === "grep" && /^-[A-Za-z0-9]*O/.test(text))),
  );
}

/** `--output=x` and `--outp` are `--output`; `-Kx` and `-sK` may be `-K`. */
function isOption(word: string, option: string): boolean {
  if (!option.startsWith("--")) {
    const letter = option.slice(1);
    if (letter.length > 1) return word === option;
    return word.startsWith("-") && !word.startsWith("--") && word.includes(letter);
  }
  const [name = ""] = word.split("=");
  return name.length > 2 && option.startsWith(name);
}

/** `/usr/bin/Python3.12` is python. */
function plainName(program: string): string {
  const name = program.split("/").at(-1)?.toLowerCase() ?? "";
  if (name.startsWith("ld-linux") || name.startsWith("ld-musl")) return "ld.so";
  return name === "." ? name : trimEndWhere(name, (unit) => /[-.\d]/.test(unit));
}

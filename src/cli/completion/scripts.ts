import type { CommandNode, Expected } from "./tree.js";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** What a shell runs to complete a command line. All three walk over the typed words in the same way. */
export function scriptFor(shell: Shell, nodes: readonly CommandNode[]): string {
  switch (shell) {
    case "bash":
      return bashScript(nodes);
    case "zsh":
      return zshScript(nodes);
    case "fish":
      return fishScript(nodes);
    default:
      return shell satisfies never;
  }
}

/** `files`, `none`, `words:a b` or `values:sessions`, as the scripts read it. */
function wordOf(expected: Expected): string {
  if (expected.kind === "words") return `words:${expected.words.join(" ")}`;
  if (expected.kind === "values") return `values:${expected.name}`;
  return expected.kind === "files" ? "files" : "none";
}

interface Lines {
  readonly path: string;
  readonly commands: readonly string[];
  readonly options: readonly string[];
  /** Options with what they take. */
  readonly taking: readonly string[];
  readonly args: readonly string[];
}

/** `withAbout`: each word with its description, as `word<tab>description`. */
function linesOf({ path, commands, options, args, repeats }: CommandNode, withAbout: boolean): Lines {
  const shown = ({ name, about }: { readonly name: string; readonly about: string }): string =>
    withAbout ? `${name}\t${about.replaceAll(/\s+/g, " ")}` : name;
  return {
    path,
    commands: commands.map(shown),
    options: options.map(shown),
    taking: options.flatMap(({ name, takes }) => (takes === undefined ? [] : [`${name}=${wordOf(takes)}`])),
    args: [...args.map(wordOf), ...(repeats ? ["repeats"] : [])],
  };
}

/** In single quotes, for sh and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function bashScript(nodes: readonly CommandNode[]): string {
  const list = (name: string, words: readonly string[]): string => `${name}=(${words.map(quoted).join(" ")})`;
  const cases = nodes.map((node) => {
    const { path, commands, options, taking, args } = linesOf(node, false);
    const sets = [list("commands", commands), list("options", options), list("taking", taking), list("args", args)];
    return `    ${quoted(path)}) ${sets.join("; ")} ;;`;
  });
  return `# Completion of maxclaw for bash. Into ~/.bashrc: source <(maxclaw completion bash)
_maxclaw_at() {
  case "$1" in
${cases.join("\n")}
  esac
}
_maxclaw() {
  local line="\${COMP_LINE:0:COMP_POINT}" current="" path="" expected="" word pair at=0 last
  local -a words commands options taking args
  read -ra words <<< "$line"
  if [[ "$line" != *[[:space:]] ]]; then
    current="\${words[\${#words[@]}-1]}"
    unset "words[\${#words[@]}-1]"
  fi
  _maxclaw_at ""
  for word in "\${words[@]:1}"; do
    if [[ -n "$expected" ]]; then expected=""; continue; fi
    if [[ "$word" == -* ]]; then
      for pair in "\${taking[@]}"; do [[ "\${pair%%=*}" == "$word" ]] && expected="\${pair#*=}"; done
    elif [[ $at -eq 0 && " \${commands[*]} " == *" $word "* ]]; then
      path="\${path:+$path }$word"
      _maxclaw_at "$path"
    else
      at=$((at + 1))
    fi
  done
  local -a found=()
  if [[ -z "$expected" && "$current" == -* ]]; then
    found=("\${options[@]}")
  else
    if [[ -z "$expected" ]]; then
      [[ $at -eq 0 ]] && found=("\${commands[@]}")
      expected="\${args[$at]}"
      last=$((\${#args[@]} - 1))
      [[ $last -gt 0 && $at -ge $last && "\${args[$last]}" == repeats ]] && expected="\${args[$last-1]}"
    fi
    case "$expected" in
      files) compopt -o filenames 2> /dev/null; COMPREPLY=(); while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current"); return ;;
      words:*) read -ra found <<< "\${expected#words:}" ;;
      values:*) while IFS= read -r word; do found+=("$word"); done < <("\${words[0]/#\\~/$HOME}" completion values "\${expected#values:}" 2> /dev/null) ;;
    esac
  fi
  COMPREPLY=()
  # To bash a colon begins a new word: what is before it is typed already.
  local colon=""
  [[ "$COMP_WORDBREAKS" == *:* && "$current" == *:* ]] && colon="\${current%"\${current##*:}"}"
  for word in "\${found[@]}"; do
    [[ "$word" == "$current"* ]] && COMPREPLY+=("\${word#"$colon"}")
  done
}
complete -F _maxclaw maxclaw
`;
}

function zshScript(nodes: readonly CommandNode[]): string {
  const list = (name: string, words: readonly string[]): string => `${name}=(${words.map(quoted).join(" ")})`;
  const described = (lines: readonly string[]): readonly string[] =>
    lines.map((line) => line.replaceAll(":", String.raw`\:`).replace("\t", ":"));
  const cases = nodes.map((node) => {
    const { path, commands, options, taking, args } = linesOf(node, true);
    const sets = [
      ...[list("subcommands", described(commands)), list("flags", described(options))],
      ...[list("taking", taking), list("args", args)],
    ];
    return `    ${quoted(path)}) ${sets.join("; ")} ;;`;
  });
  return `#compdef maxclaw
# Completion of maxclaw for zsh. Into ~/.zshrc, behind compinit: source <(maxclaw completion zsh)
_maxclaw_at() {
  case "$1" in
${cases.join("\n")}
  esac
}
_maxclaw() {
  local current="\${words[CURRENT]}" where="" expected="" word pair
  local -i at=1 i
  local -a subcommands flags taking args found
  _maxclaw_at ""
  for (( i = 2; i < CURRENT; i++ )); do
    word="\${words[i]}"
    if [[ -n "$expected" ]]; then expected=""; continue; fi
    if [[ "$word" == -* ]]; then
      for pair in "\${taking[@]}"; do [[ "\${pair%%=*}" == "$word" ]] && expected="\${pair#*=}"; done
    elif (( at == 1 )) && (( \${#\${(@M)subcommands:#\${word}:*}} )); then
      where="\${where:+$where }$word"
      _maxclaw_at "$where"
    else
      (( at++ ))
    fi
  done
  if [[ -z "$expected" ]]; then
    if [[ "$current" == -* ]]; then _describe -o 'option' flags; return; fi
    (( at == 1 && \${#subcommands} > 0 )) && _describe 'command' subcommands
    expected="\${args[at]}"
    [[ "\${args[-1]}" == repeats ]] && (( at >= \${#args} )) && expected="\${args[-2]}"
  fi
  case "$expected" in
    files) _files ;;
    words:*) found=(\${=expected#words:}); compadd -- "\${found[@]}" ;;
    values:*) found=("\${(@f)$(_call_program values "\${(q)words[1]}" completion values "\${expected#values:}" 2> /dev/null)}"); compadd -- "\${found[@]}" ;;
  esac
}
if [[ "\${funcstack[1]}" == _maxclaw ]]; then _maxclaw "$@"; else compdef _maxclaw maxclaw; fi
`;
}

function fishScript(nodes: readonly CommandNode[]): string {
  const list = (name: string, words: readonly string[]): string =>
    `set -g __maxclaw_${name} ${words.map(fishQuoted).join(" ")}`.trimEnd();
  const cases = nodes.map((node) => {
    const { path, commands, options, taking, args } = linesOf(node, true);
    const sets = [list("commands", commands), list("options", options), list("taking", taking), list("args", args)];
    return [`        case ${fishQuoted(path)}`, ...sets.map((line) => `            ${line}`)].join("\n");
  });
  return `# Completion of maxclaw for fish: maxclaw completion fish > ~/.config/fish/completions/maxclaw.fish
function __maxclaw_at
    switch "$argv[1]"
${cases.join("\n")}
    end
end
function __maxclaw_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l path ''
    set -l expected ''
    set -l at 1
    __maxclaw_at ''
    for word in $typed[2..-1]
        if test -n "$expected"
            set expected ''
            continue
        end
        if string match -q -- '-*' $word
            for pair in $__maxclaw_taking
                string match -q -- "$word=*" $pair; and set expected (string replace -- "$word=" '' $pair)
            end
        else if test $at -eq 1; and string match -q -- "$word"\\t'*' $__maxclaw_commands
            set path (string trim -- "$path $word")
            __maxclaw_at "$path"
        else
            set at (math $at + 1)
        end
    end
    if test -z "$expected"
        if string match -q -- '-*' "$current"
            printf '%s\\n' $__maxclaw_options
            return
        end
        test $at -eq 1; and test (count $__maxclaw_commands) -gt 0; and printf '%s\\n' $__maxclaw_commands
        set -l count (count $__maxclaw_args)
        test $at -le $count; and set expected $__maxclaw_args[$at]
        if test $count -gt 0; and test "$__maxclaw_args[-1]" = repeats; and test $at -ge $count
            set expected $__maxclaw_args[-2]
        end
    end
    switch "$expected"
        case files
            __fish_complete_path "$current"
        case 'words:*'
            string split ' ' -- (string replace 'words:' '' -- "$expected")
        case 'values:*'
            $typed[1] completion values (string replace 'values:' '' -- "$expected") 2> /dev/null
    end
end
complete -c maxclaw -f -a '(__maxclaw_complete)'
`;
}

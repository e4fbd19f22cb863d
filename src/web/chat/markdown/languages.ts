import type { LanguageRegistration } from "@shikijs/core";

interface Language {
  /** As its grammar calls it. */
  readonly name: string;
  readonly load: () => Promise<{ readonly default: LanguageRegistration[] }>;
}

/** Each a file of its own, which is loaded the first time that an answer has code of it. */
const languages: readonly (Language & { readonly aliases: string })[] = [
  { name: "shellscript", aliases: "bash sh shell zsh", load: () => import("@shikijs/langs/shellscript") },
  { name: "c", aliases: "h", load: () => import("@shikijs/langs/c") },
  { name: "csharp", aliases: "cs c#", load: () => import("@shikijs/langs/csharp") },
  { name: "css", aliases: "", load: () => import("@shikijs/langs/css") },
  { name: "diff", aliases: "patch", load: () => import("@shikijs/langs/diff") },
  { name: "docker", aliases: "dockerfile", load: () => import("@shikijs/langs/docker") },
  { name: "go", aliases: "golang", load: () => import("@shikijs/langs/go") },
  { name: "html", aliases: "htm", load: () => import("@shikijs/langs/html") },
  { name: "ini", aliases: "conf properties", load: () => import("@shikijs/langs/ini") },
  { name: "java", aliases: "", load: () => import("@shikijs/langs/java") },
  { name: "javascript", aliases: "js mjs cjs jsx", load: () => import("@shikijs/langs/javascript") },
  { name: "json", aliases: "json5 jsonc", load: () => import("@shikijs/langs/json") },
  { name: "kotlin", aliases: "kt", load: () => import("@shikijs/langs/kotlin") },
  { name: "lua", aliases: "", load: () => import("@shikijs/langs/lua") },
  { name: "markdown", aliases: "md", load: () => import("@shikijs/langs/markdown") },
  { name: "powershell", aliases: "ps1 ps", load: () => import("@shikijs/langs/powershell") },
  { name: "python", aliases: "py", load: () => import("@shikijs/langs/python") },
  { name: "rust", aliases: "rs", load: () => import("@shikijs/langs/rust") },
  { name: "sql", aliases: "postgres mysql sqlite", load: () => import("@shikijs/langs/sql") },
  { name: "toml", aliases: "", load: () => import("@shikijs/langs/toml") },
  // Also TypeScript without JSX: its own grammar is the same again, and as large.
  { name: "tsx", aliases: "ts mts cts typescript", load: () => import("@shikijs/langs/tsx") },
  { name: "xml", aliases: "svg xhtml", load: () => import("@shikijs/langs/xml") },
  { name: "yaml", aliases: "yml", load: () => import("@shikijs/langs/yaml") },
];

export function languageNamed(name: string): Language | undefined {
  const wanted = name.toLowerCase();
  return languages.find((each) => each.name === wanted || each.aliases.split(" ").includes(wanted));
}

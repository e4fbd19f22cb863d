import type { LanguageRegistration } from "shiki/core";

interface Language {
  /** As its grammar calls it. */
  readonly name: string;
  readonly load: () => Promise<{ readonly default: LanguageRegistration[] }>;
}

/** Each a file of its own, which is loaded the first time that an answer has code of it. */
const languages: readonly (Language & { readonly aliases: string })[] = [
  { name: "shellscript", aliases: "bash sh shell zsh", load: () => import("shiki/langs/shellscript.mjs") },
  { name: "c", aliases: "h", load: () => import("shiki/langs/c.mjs") },
  { name: "csharp", aliases: "cs c#", load: () => import("shiki/langs/csharp.mjs") },
  { name: "css", aliases: "", load: () => import("shiki/langs/css.mjs") },
  { name: "diff", aliases: "patch", load: () => import("shiki/langs/diff.mjs") },
  { name: "docker", aliases: "dockerfile", load: () => import("shiki/langs/docker.mjs") },
  { name: "go", aliases: "golang", load: () => import("shiki/langs/go.mjs") },
  { name: "html", aliases: "htm", load: () => import("shiki/langs/html.mjs") },
  { name: "ini", aliases: "conf properties", load: () => import("shiki/langs/ini.mjs") },
  { name: "java", aliases: "", load: () => import("shiki/langs/java.mjs") },
  { name: "javascript", aliases: "js mjs cjs jsx", load: () => import("shiki/langs/javascript.mjs") },
  { name: "json", aliases: "json5 jsonc", load: () => import("shiki/langs/json.mjs") },
  { name: "kotlin", aliases: "kt", load: () => import("shiki/langs/kotlin.mjs") },
  { name: "lua", aliases: "", load: () => import("shiki/langs/lua.mjs") },
  { name: "markdown", aliases: "md", load: () => import("shiki/langs/markdown.mjs") },
  { name: "powershell", aliases: "ps1 ps", load: () => import("shiki/langs/powershell.mjs") },
  { name: "python", aliases: "py", load: () => import("shiki/langs/python.mjs") },
  { name: "rust", aliases: "rs", load: () => import("shiki/langs/rust.mjs") },
  { name: "sql", aliases: "postgres mysql sqlite", load: () => import("shiki/langs/sql.mjs") },
  { name: "swift", aliases: "", load: () => import("shiki/langs/swift.mjs") },
  { name: "toml", aliases: "", load: () => import("shiki/langs/toml.mjs") },
  // Also TypeScript without JSX: its own grammar is the same again, and as large.
  { name: "tsx", aliases: "ts mts cts typescript", load: () => import("shiki/langs/tsx.mjs") },
  { name: "xml", aliases: "svg xhtml", load: () => import("shiki/langs/xml.mjs") },
  { name: "yaml", aliases: "yml", load: () => import("shiki/langs/yaml.mjs") },
];

export function languageNamed(name: string): Language | undefined {
  const wanted = name.toLowerCase();
  return languages.find((each) => each.name === wanted || each.aliases.split(" ").includes(wanted));
}

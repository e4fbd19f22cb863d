/** What others wrote, marked so that the model takes it for material; the text cannot close the mark. */
export function fenceUntrusted(source: string, text: string): string {
  const inner = text.replace(/<(?=\/?\s*untrusted)/gi, "&lt;");
  return `<untrusted source="${source.replace(/[<>"\r\n]/g, " ").slice(0, 200)}">\n${inner}\n</untrusted>`;
}

/** Several sources as one, for people: the first three that differ. */
export function namesOf(sources: readonly string[]): string {
  // One source may be a list of names itself, made from others.
  const names = [...new Set(sources.flatMap((source) => source.replace(/ and more$/, "").split(", ")))];
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? " and more" : ""}`.slice(0, 300);
}

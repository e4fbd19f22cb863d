/** What others wrote, marked so that the model takes it for material; the text cannot close the mark. */
export function fenceUntrusted(source: string, text: string): string {
  const inner = text.replace(/<(?=\/?\s*untrusted)/gi, "&lt;");
  return `<untrusted source="${source.replace(/[<>"\r\n]/g, " ").slice(0, 200)}">\n${inner}\n</untrusted>`;
}

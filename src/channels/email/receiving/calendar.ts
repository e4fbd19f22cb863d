const shown: readonly (readonly [key: string, label: string])[] = [
  ["SUMMARY", "What"],
  ["DTSTART", "Begins"],
  ["DTEND", "Ends"],
  ["LOCATION", "Where"],
  ["ORGANIZER", "Organizer"],
  ["RRULE", "Repeats"],
  ["STATUS", "Status"],
];
const longestLine = 300;

/** An iCalendar text in a few lines that a person can read; empty when it holds no event. */
export function calendarText(ics: string): string {
  const lines = ics.replace(/\r?\n[ \t]/g, "").split(/\r?\n/);
  const method = lines.find((line) => /^METHOD:/i.test(line))?.slice("METHOD:".length);
  const from = lines.findIndex((line) => /^BEGIN:VEVENT/i.test(line));
  if (from === -1) return "";
  const event = lines.slice(
    from + 1,
    lines.findIndex((line, at) => at > from && /^END:VEVENT/i.test(line)),
  );
  const facts = shown.flatMap(([key, label]) => {
    const line = event.find((each) => new RegExp(`^${key}[;:]`, "i").test(each));
    return line === undefined ? [] : [`${label}: ${textOf(line).slice(0, longestLine)}`];
  });
  return [`[calendar${method === undefined ? "" : ` ${method.toLowerCase()}`}]`, ...facts].join("\n");
}

function textOf(line: string): string {
  const { groups: { parameters = "", value = "" } = {} } =
    /^[^;:]+(?<parameters>(?:;[^":;]*(?:"[^"]*"[^":;]*)*)*):(?<value>.*)$/.exec(line) ?? {};
  const zone = /;TZID=([^;:]+)/i.exec(parameters)?.[1];
  const text = value
    .replace(/\\n/gi, " ")
    .replace(/\\([,;\\])/g, "$1")
    .replace(/^mailto:/i, "");
  return zone === undefined ? text : `${text} (${zone})`;
}

const mostChats = 30;
/** UTF-16 units: 10 MB at most. */
const mostUnits = 5_000_000;

export function isTooMuch(chats: number, units: number): boolean {
  return chats > mostChats || units > mostUnits;
}

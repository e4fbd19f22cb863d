export function isNight(now: Date): boolean {
  return now.getHours() >= 22 || now.getHours() < 8;
}

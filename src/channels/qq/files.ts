/** What QQ calls kinds of files. https://bot.q.qq.com/wiki/develop/api-v2/server-inter/message/send-receive/rich-media.html */
const kinds = { picture: 1, video: 2, voice: 3, file: 4 } as const;

/** Of a file of ours; QQ shows other pictures, videos and sounds than these as files. */
export function fileTypeOf({ mimeType, filename }: { readonly mimeType: string; readonly filename: string }): number {
  if (/^image\/(?:png|jpe?g)$/.test(mimeType)) return kinds.picture;
  if (mimeType === "video/mp4") return kinds.video;
  return /\.silk$/i.test(filename) ? kinds.voice : kinds.file;
}

export function isPicture(fileType: number): boolean {
  return fileType === kinds.picture;
}

/** Without what a folder is made of; QQ shows a file without a name as a number. */
export function plainName(filename: string): string {
  return filename.replace(/[/\\\p{Cc}]/gu, "_");
}

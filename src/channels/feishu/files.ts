import { extname } from "node:path";
import { imageTypeOf } from "../../util/image-type.js";

/** How a file of ours goes to Feishu. https://open.feishu.cn/document/server-docs/im-v1/file/create */
export type Upload =
  | { readonly kind: "image" }
  | { readonly kind: "file"; readonly fileType: string; readonly messageType: "file" | "audio" | "media" };

/** A larger picture goes as a file. */
const largestPicture = 10 * 1024 * 1024;

const fileTypes: Readonly<Record<string, string>> = {
  ".pdf": "pdf",
  ".doc": "doc",
  ".docx": "doc",
  ".xls": "xls",
  ".xlsx": "xls",
  ".ppt": "ppt",
  ".pptx": "ppt",
};

export function uploadOf(filename: string, bytes: Buffer): Upload {
  if (imageTypeOf(bytes) !== undefined && bytes.length <= largestPicture) return { kind: "image" };
  const extension = extname(filename).toLowerCase();
  if (extension === ".mp4") return { kind: "file", fileType: "mp4", messageType: "media" };
  if (extension === ".opus") return { kind: "file", fileType: "opus", messageType: "audio" };
  return { kind: "file", fileType: fileTypes[extension] ?? "stream", messageType: "file" };
}

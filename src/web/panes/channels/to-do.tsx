import { useEffect, useState } from "preact/hooks";
import { type QrCode, qrCodeOf } from "../../parts/qr-code.js";
import { channelsWords } from "./words.js";

/** What the owner of a channel must do, with the code that a phone must scan. Dark on light in every theme, as cameras want it. */
export function ToDo({ text, scan }: { readonly text: string; readonly scan: string }) {
  const code = useCode(scan);
  return (
    <div class="channel-to-do" role="status">
      <p>{text}</p>
      {code === undefined ? undefined : (
        <svg viewBox={`0 0 ${code.size} ${code.size}`} class="qr" role="img" aria-label={channelsWords.t("code")}>
          <path d={code.path} />
        </svg>
      )}
    </div>
  );
}

function useCode(scan: string): QrCode | undefined {
  const [code, setCode] = useState<QrCode>();
  useEffect(() => {
    let isWanted = true;
    const draw = async (): Promise<void> => {
      const drawn = scan === "" ? undefined : await qrCodeOf(scan);
      if (isWanted) setCode(drawn);
    };
    void draw();
    return () => {
      isWanted = false;
    };
  }, [scan]);
  return code;
}

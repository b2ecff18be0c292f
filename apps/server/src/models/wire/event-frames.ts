import { AppError } from '@belay/protocol';

/** The longest frame of a provider’s stream. */
const maxFrameBytes = 8 * 2 ** 20;
const [lineFeed, carriageReturn] = [10, 13];

/**
 * Splits the bytes of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) after each
 * empty line, at whatever bytes they arrive. The frames together are exactly the bytes.
 */
export class EventFrames {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #isLineEmpty = true;
  #afterReturn = false;

  /** The frames that these bytes complete. Throws `model_failed` for one beyond the limit. */
  add(bytes: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      const isSecondHalf = byte === lineFeed && this.#afterReturn;
      this.#afterReturn = byte === carriageReturn;
      if (isSecondHalf) continue;
      const isEnd = byte === lineFeed || byte === carriageReturn;
      if (isEnd && this.#isLineEmpty && this.#pendingBytes + at > start) {
        // The second half of a line end that spans two bytes belongs to this frame if it is here already.
        const end = byte === carriageReturn && bytes[at + 1] === lineFeed ? at + 2 : at + 1;
        this.#keep(bytes.subarray(start, end));
        frames.push(this.end());
        start = end;
      }
      this.#isLineEmpty = isEnd;
    }
    this.#keep(bytes.subarray(start));
    return frames;
  }

  /** The bytes after the last frame. */
  end(): Buffer {
    const [first, ...others] = this.#pending;
    const frame = first && others.length === 0 ? first : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    return frame;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > maxFrameBytes)
      throw new AppError('model_failed', 'The provider sent an event that is too large.');
  }
}

/** The JSON in the data of a frame; undefined if it has none. */
export function messageIn(frame: Buffer): unknown {
  const data = frame
    .toString()
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
    .join('\n');
  return parsed(data);
}

/** Parsed JSON; undefined for anything else. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

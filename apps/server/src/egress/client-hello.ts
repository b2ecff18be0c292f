/**
 * Reads the server names of TLS hellos (RFC 8446, 4.1.2; RFC 6066, 3) from what a client sends: from the first hello,
 * however it is split into records and packets, and from a later one in answer to a server’s retry request. Bytes
 * after that are encrypted; only the headers of their records are read.
 */
export class ClientHellos {
  readonly #onName: (name: string | null) => void;
  #head = Buffer.alloc(0);
  /** Bytes of the current record that are still to come, and their destination. */
  #rest = 0;
  #inHello = false;
  #hello: Buffer[] = [];
  #helloBytes = 0;
  #helloLength = 0;
  #seen = 0;
  #encrypted = false;

  /** `onName` gets the name in each hello, or null if it has none; its errors pass through `push`. */
  constructor(onName: (name: string | null) => void) {
    this.#onName = onName;
  }

  /** Whether the first hello is complete. */
  get seen(): boolean {
    return this.#seen > 0;
  }

  /** Throws `NoHello` for bytes that are not a hello, and for one longer than any client sends. */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#rest > 0) {
        const part = bytes.subarray(at, at + this.#rest);
        at += part.length;
        this.#rest -= part.length;
        if (this.#inHello) this.#gather(part);
        continue;
      }
      const wanted = this.#wantedOfHead() - this.#head.length;
      this.#head = Buffer.concat([this.#head, bytes.subarray(at, at + wanted)]);
      at += wanted;
      if (this.#head.length >= this.#wantedOfHead()) this.#begin();
    }
  }

  /** A record’s header, and enough of a handshake to tell a hello from encrypted data. */
  #wantedOfHead(): number {
    if (this.#head.length < recordHead || this.#head[0] !== handshake || this.#inHello)
      return recordHead;
    return recordHead + Math.min(this.#head.readUInt16BE(3), handshakeHead);
  }

  #begin(): void {
    const head = this.#head;
    this.#head = Buffer.alloc(0);
    const [type = 0, major] = head;
    const length = head.readUInt16BE(3);
    if (major !== 3 || length > longestRecord || length === 0) throw new NoHello();
    const first = head.subarray(recordHead);
    this.#rest = length - first.length;
    if (this.#inHello || !this.seen) {
      if (type !== handshake) throw new NoHello();
      this.#inHello = true;
      this.#gather(first);
    } else if (type === changeCipher) this.#encrypted = true;
    else if (type === handshake && this.#isHello(first)) {
      this.#inHello = true;
      this.#gather(first);
    }
  }

  /**
   * After the cipher change, a handshake record looks like random bytes, unless it is the hello after a retry request.
   */
  #isHello(first: Buffer): boolean {
    if (!this.#encrypted) return first[0] === clientHello;
    if (first.length < handshakeHead) throw new NoHello();
    return first[0] === clientHello && first[1] === 0 && first[4] === 3 && first[5] === 3;
  }

  #gather(part: Buffer): void {
    const before = this.#helloBytes;
    this.#hello.push(part);
    this.#helloBytes += part.length;
    if (this.#helloBytes > longestHello) throw new NoHello();
    if (this.#helloBytes < 4) return;
    // Joined once for the length and once at the end: pieces of one byte must not cost their square.
    if (before < 4) {
      const start = Buffer.concat(this.#hello);
      if (start[0] !== clientHello) throw new NoHello();
      this.#helloLength = 4 + start.readUIntBE(1, 3);
    }
    if (this.#helloLength > longestHello || this.#helloBytes > this.#helloLength)
      throw new NoHello();
    if (this.#helloBytes < this.#helloLength) return;
    // Nothing may follow a hello in its record: it would not be inspected.
    if (this.#rest > 0) throw new NoHello();
    const hello = Buffer.concat(this.#hello);
    this.#hello = [];
    this.#helloBytes = 0;
    this.#inHello = false;
    this.#seen += 1;
    this.#onName(serverNameOf(new Reader(hello.subarray(4))));
  }
}

/** Bytes that start like TLS, but do not continue as a readable hello. */
export class NoHello extends Error {}

const recordHead = 5;
/** Type, length and version of a handshake message. */
const handshakeHead = 6;
const changeCipher = 20;
const handshake = 22;
const clientHello = 1;
const longestRecord = 2 ** 14;
/** Hellos with post-quantum keys and session tickets have a few KiB. */
const longestHello = 2 ** 15;

function serverNameOf(hello: Reader): string | null {
  hello.take(2 + 32);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.isEmpty) return null;
  const extensions = hello.vector(2);
  if (!hello.isEmpty) throw new NoHello();
  let name: string | null = null;
  while (!extensions.isEmpty) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type !== 0) continue;
    if (name !== null) throw new NoHello();
    const list = content.vector(2);
    if (list.number(1) !== 0) throw new NoHello();
    name = list.vector(2).text();
    if (!list.isEmpty || !content.isEmpty) throw new NoHello();
  }
  return name;
}

/** Numbers and vectors of TLS (RFC 8446, 3). Throws `NoHello` for malformed ones. */
class Reader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isEmpty(): boolean {
    return this.#at === this.bytes.length;
  }

  take(count: number): Buffer {
    const part = this.bytes.subarray(this.#at, this.#at + count);
    if (part.length < count) throw new NoHello();
    this.#at += count;
    return part;
  }

  number(bytes: 1 | 2): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  vector(lengthBytes: 1 | 2): Reader {
    return new Reader(this.take(this.number(lengthBytes)));
  }

  text(): string {
    return this.bytes.toString('latin1');
  }
}

/**
 * The output of a container without a terminal, standard output and error in order, from the bytes of the engine’s
 * `logs`. The engine puts eight bytes before each piece: stream, three zeros, length (Docker Engine API, “Stream
 * format”). An incomplete last piece is kept.
 */
export function containerOutput(logs: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = 0; at + 8 <= logs.length;) {
    const end = at + 8 + logs.readUInt32BE(at + 4);
    pieces.push(logs.subarray(at + 8, end));
    at = end;
  }
  return Buffer.concat(pieces).toString();
}

import { EventEmitter } from 'node:events';
import { Decoder, type Packet } from 'socket.io-parser';

/** Of one message: its name and its input; an acknowledgement has its value alone. */
const maxValues = 2;
/** The two types of packets that are continued by bytes. */
const announcesBytes = /^[56]/;

/**
 * Reads what viewers send: never bytes, and few values. socket.io hands each value of a message over as an argument, and
 * a million of them would be an exception outside of any request, which ends the process.
 */
export class ViewerDecoder extends EventEmitter {
  readonly #decoder = new Decoder();

  constructor() {
    super();
    this.#decoder.on('decoded', (packet: Packet) => {
      if (Array.isArray(packet.data) && packet.data.length > maxValues) {
        throw new Error('A message of a viewer has too many values.');
      }
      this.emit('decoded', packet);
    });
  }

  /** Throws on what is not valid; socket.io then closes the connection. */
  add(packet: unknown): void {
    if (typeof packet !== 'string' || announcesBytes.test(packet)) {
      throw new Error('A viewer sends no bytes.');
    }
    this.#decoder.add(packet);
  }

  destroy(): void {
    this.#decoder.destroy();
  }
}

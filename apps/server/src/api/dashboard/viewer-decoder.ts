import { EventEmitter } from 'node:events';
import { Decoder, type Packet } from 'socket.io-parser';

/** The values of one message: its name and its input. An acknowledgement has only its value. */
const maxValues = 2;
/** The two types of packets that are followed by bytes. */
const announcesBytes = /^[56]/;

/**
 * Reads what viewers send: no bytes, and few values. socket.io passes each value of a message as an argument, and a
 * million of them would throw outside of any request, which would end the process.
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

  /** Throws for invalid packets; socket.io then closes the connection. */
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

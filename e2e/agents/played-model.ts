import { until } from '@belay/testing';
import {
  ProviderServer,
  streaming,
  type ProviderRequest,
} from '../../apps/server/src/models/testing/provider-server.js';
import type {
  ProviderWire,
  WireReply,
} from '../../apps/server/src/models/testing/provider-wires.js';

/** A request that waits for its reply. */
interface Waiting {
  request: ProviderRequest;
  answer(reply: WireReply): void;
}

/**
 * A provider whose model is played by a test, step by step. Requests without tools or for an answer in a given
 * format, such as for a title, get a text at once; all others wait for the test.
 */
export class PlayedModel {
  #waiting: Waiting[] = [];

  private constructor(
    readonly server: ProviderServer,
    readonly wire: ProviderWire,
  ) {}

  static async open(wire: ProviderWire): Promise<PlayedModel> {
    const server = await ProviderServer.open();
    const played = new PlayedModel(server, wire);
    server.otherwise = (request) => (response) => {
      const answer = (reply: WireReply) => streaming(wire.reply(reply))(response);
      if (!offersTools(request) || wantsFormat(request)) return answer({ text: 'A title' });
      const waiting = { request, answer };
      played.#waiting.push(waiting);
      response.once('close', () => {
        played.#waiting = played.#waiting.filter((one) => one !== waiting);
      });
    };
    return played;
  }

  /** The address that a server of Belay is given. */
  get url(): string {
    const { environment } = this.wire;
    const [url = ''] = Object.values(environment(this.server.url));
    return url;
  }

  /** Whether a request waits for its reply. */
  get isAsked(): boolean {
    return this.#waiting.length > 0;
  }

  /** The oldest request that waits for its reply. */
  asked(): Promise<ProviderRequest> {
    return until('a request of the agent', () => this.#waiting[0]?.request, { timeoutMs: 60_000 });
  }

  /** Replies to it. */
  async reply(reply: WireReply): Promise<void> {
    await this.asked();
    this.#waiting.shift()?.answer(reply);
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

const wantsFormat = ({ body: { text } }: ProviderRequest): boolean =>
  typeof text === 'object' && text !== null && 'format' in text;

/** Tools are a list in the body, or in an item of its input. */
const offersTools = ({ body: { tools, input } }: ProviderRequest): boolean =>
  [
    tools,
    ...(Array.isArray(input) ? input.map((item: { tools?: unknown }) => item.tools) : []),
  ].some((list) => Array.isArray(list) && list.length > 0);

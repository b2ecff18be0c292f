import type { Event, Message, ModelRequest, SessionSettingsInput } from '@belay/protocol';
import { BlobStore } from '../logs/blob-store.js';
import { TransientNotices } from '../logs/transient-notices.js';
import { TestLogs } from './logs.js';
import { ModelGateway } from '../models/model-gateway.js';
import { ProviderKeys } from '../models/provider-keys.js';

/** Only a server that never answers exceeds it, even on a busy machine. */
const listTimeoutMs = 300_000;

/** A gateway over a real log, for tests: retries almost without delay and records streamed text. */
export class TestGateway {
  readonly logs = new TestLogs();
  readonly deltas: { kind: string; text: string }[] = [];
  keys!: ProviderKeys;
  gateway!: ModelGateway;
  blobs!: BlobStore;

  static async open(env: Record<string, string>): Promise<TestGateway> {
    const test = new TestGateway();
    await test.logs.open(env);
    const live = new TransientNotices();
    live.on('delta', ({ kind, text }) => test.deltas.push({ kind, text }));
    test.blobs = new BlobStore(test.logs.config, test.logs.database, test.logs.objects);
    test.keys = new ProviderKeys(test.logs.config, await test.logs.documents());
    test.keys.listTimeoutMs = listTimeoutMs;
    test.gateway = new ModelGateway(test.keys, test.logs.log, live, test.blobs);
    test.gateway.retries = {
      firstSeconds: 0.01,
      longestSeconds: 0.02,
      longestAskedSeconds: 600,
    };
    return test;
  }

  /** Begins session `s`. */
  session(model: string, more: Partial<SessionSettingsInput> = {}): Promise<void> {
    return this.logs.session('s', { model, ...more });
  }

  generate(
    request: Partial<ModelRequest> = {},
    signal: AbortSignal = new AbortController().signal,
  ) {
    return this.gateway.generate('s', { ...turn(), ...request }, { signal });
  }

  streamed(kind: 'text' | 'reasoning' = 'text'): string {
    return this.deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
  }

  async events(action: string): Promise<Event[]> {
    const events = await this.logs.log.read('s', { after: 0 });
    return events.filter((event) => event.action === action);
  }

  close(): Promise<void> {
    return this.logs.close();
  }
}

export const turn = (...messages: Message[]): ModelRequest => ({
  purpose: 'turn',
  messages: [
    { role: 'system', text: 'You are an agent.' },
    { role: 'user', text: 'Fix the sum.', images: [] },
    ...messages,
  ],
  operations: ['terminal.run', 'files.read', 'finish'],
});

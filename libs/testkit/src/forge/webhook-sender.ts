import { randomUUID } from 'node:crypto';
import type { PlayedHook } from './forge-records.js';

/** A webhook before it is signed for one hook. */
export interface Webhook {
  /** The hook’s name for it in its list of events. */
  event: string;
  body: object;
  headers: Record<string, string>;
}

/** One attempt to send a webhook, as a host keeps it. */
export interface HookDelivery {
  id: number;
  hook: number;
  /** What the host calls the delivery; GitHub and GitLab keep it when they send again. */
  guid: string;
  event: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  json: string;
  at: string;
  /** The status of the answer; null while there is none. */
  status: number | null;
  error: string | null;
  isRedelivery: boolean;
}

/** What happens to a delivery on its way. `hold` keeps it until `letGo`, behind later ones. */
export type DeliveryFate = 'send' | 'drop' | 'twice' | 'mis-sign' | 'hold';

interface Signing {
  hook: PlayedHook;
  guid: string;
  /** The bytes that are sent, and the JSON in them. */
  body: string;
  json: string;
  webhook: Webhook;
}

export interface WebhookHost {
  /** Whether the hook wants this webhook. */
  wants(hook: PlayedHook, webhook: Webhook): boolean;
  /** The headers with signature, if the hook has a secret. */
  signed(signing: Signing): Record<string, string>;
  keepsGuid: boolean;
  nextId(): number;
  time(): string;
}

/** GitHub sends no webhook that is larger. */
const maxBodyBytes = 25 * 2 ** 20;

/** How long hosts wait for an answer. */
const answerTimeoutMs = 10_000;

/** Sends the webhooks of a played host in order, one at a time, and keeps each attempt. */
export class WebhookSender {
  readonly hooks: PlayedHook[] = [];
  readonly deliveries: HookDelivery[] = [];
  /** Decides about each delivery; a test may lose, repeat, hold or mis-sign some. */
  fate: (delivery: HookDelivery) => DeliveryFate = () => 'send';
  readonly #held: HookDelivery[] = [];
  #sending: Promise<void> = Promise.resolve();

  constructor(private readonly host: WebhookHost) {}

  /** Sends a webhook to all hooks that want it, or to one. */
  send(webhook: Webhook, only?: PlayedHook): void {
    const hooks = this.hooks.filter((hook) => hook.isActive && this.host.wants(hook, webhook));
    const json = JSON.stringify(webhook.body);
    if (Buffer.byteLength(json) > maxBodyBytes) return;
    for (const hook of only ? [only] : hooks) {
      const body = hook.isForm ? `payload=${encodeURIComponent(json)}` : json;
      const guid = randomUUID();
      const headers = this.host.signed({ hook, guid, body, json, webhook });
      this.#begin(this.#keep({ hook, guid, headers, body, json, event: webhook.event }));
    }
  }

  /** Sends a delivery once more, as its host does when a user asks for it. */
  redeliver(id: number): HookDelivery {
    const old = this.deliveries.find((one) => one.id === id);
    const hook = this.hooks.find((one) => one.id === old?.hook);
    if (!old || !hook) throw new Error(`There is no delivery ${id}.`);
    const guid = this.host.keepsGuid ? old.guid : randomUUID();
    const webhook = { event: old.event, body: {}, headers: old.headers };
    const { body, json, event } = old;
    const headers = this.host.signed({ hook, guid, body, json, webhook });
    const delivery = this.#keep({ hook, guid, headers, body, json, event, isRedelivery: true });
    this.#begin(delivery);
    return delivery;
  }

  /** Sends what was held. */
  letGo(): void {
    for (const delivery of this.#held.splice(0)) this.#queue(delivery);
  }

  /** Resolves when everything was sent. */
  async idle(): Promise<void> {
    let seen;
    do {
      seen = this.#sending;
      await seen;
    } while (seen !== this.#sending);
  }

  #keep({
    hook,
    isRedelivery = false,
    ...more
  }: Pick<HookDelivery, 'guid' | 'headers' | 'body' | 'json' | 'event'> & {
    hook: PlayedHook;
    isRedelivery?: boolean;
  }): HookDelivery {
    const at = this.host.time();
    const sent = { id: this.host.nextId(), hook: hook.id, url: hook.url, at, ...more };
    const delivery = { ...sent, status: null, error: null, isRedelivery };
    this.deliveries.push(delivery);
    return delivery;
  }

  #begin(delivery: HookDelivery): void {
    const fate = this.fate(delivery);
    if (fate === 'drop') delivery.error = 'dropped';
    else if (fate === 'hold') this.#held.push(delivery);
    else {
      if (fate === 'mis-sign') delivery.headers = misSigned(delivery.headers);
      this.#queue(delivery);
      if (fate === 'twice') this.#queue(delivery);
    }
  }

  #queue(delivery: HookDelivery): void {
    this.#sending = this.#sending.then(async () => {
      const { url, headers, body } = delivery;
      try {
        const signal = AbortSignal.timeout(answerTimeoutMs);
        // On a connection that is kept, the other side may be about to close it.
        const sent = { ...headers, connection: 'close' };
        const answer = await fetch(url, { method: 'POST', headers: sent, body, signal });
        await answer.arrayBuffer();
        delivery.status = answer.status;
      } catch (error) {
        delivery.error = String(error);
      }
    });
  }
}

/** The same headers with the last character of each signature and token exchanged. */
function misSigned(headers: Record<string, string>): Record<string, string> {
  const changed = (value: string) => value.slice(0, -1) + (value.endsWith('0') ? '1' : '0');
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      /signature|token/i.test(name) ? changed(value) : value,
    ]),
  );
}

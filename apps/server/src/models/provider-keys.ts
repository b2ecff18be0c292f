import { isDeepStrictEqual } from 'node:util';
import { Injectable, Logger } from '@nestjs/common';
import {
  isKnownProvider,
  knownProviders,
  ownValue,
  providerName,
  type ProviderSetup,
} from '@belay/protocol';
import { z } from 'zod';
import { Config, type ProviderConfig } from '../config.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';

const saved = z.record(
  providerName,
  z.object({ key: z.string().optional(), url: z.string().optional() }),
);
type Saved = z.infer<typeof saved>;

/** The settings with which providers are opened: from the environment, overridden by the user’s. */
export interface ModelSetup extends Pick<Config, 'environment' | 'examples'> {
  readonly providers: Config['providers'] & Readonly<Record<string, ProviderConfig | undefined>>;
  /** How long lists of models and their windows wait for a server that may not run, in milliseconds. */
  readonly listTimeoutMs: number;
}

/** Omitted fields stay the same, but another address drops the key; null restores the environment’s value. */
export interface KeyChange {
  key?: string | null | undefined;
  url?: string | null | undefined;
}

/**
 * Keys and addresses of providers that the user sets in the dashboard. Keys are never returned by an API: clients learn
 * only whether one exists. A key belongs to the address that it was set for, and is never sent to another one.
 */
@Injectable()
export class ProviderKeys {
  /** Tests wait for as long as it takes. */
  listTimeoutMs = 1_000;
  readonly #document: Document<typeof saved>;
  readonly #logger = new Logger(ProviderKeys.name);
  #changed: (name: string) => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly config: Config,
    documents: Documents,
  ) {
    this.#document = documents.open('keys', saved, {});
    this.#document.onRead((before) => {
      const now = this.#document.value;
      for (const name of new Set([...Object.keys(before), ...Object.keys(now)]))
        if (!isDeepStrictEqual(ownValue(before, name), ownValue(now, name)))
          this.#changed(name).catch((error: unknown) => this.#logger.error(error));
    });
  }

  /** The listener is called with each provider whose setup was changed, here or by another server. */
  onChanged(listener: (name: string) => Promise<void>): void {
    this.#changed = listener;
  }

  get setup(): ModelSetup {
    return this.#setupOf(this.#document.value);
  }

  /** The settings as they would be after a change. */
  setupWith(name: string, change: KeyChange): ModelSetup {
    return this.#setupOf(changed(this.#document.value, name, change));
  }

  #setupOf(values: Saved): ModelSetup {
    const { environment, examples } = this.config;
    const set: Readonly<Record<string, ProviderConfig>> = this.config.providers;
    const names = new Set([...Object.keys(set), ...Object.keys(values)]);
    const merged = [...names].map((name): [string, ProviderConfig] => [
      name,
      settingOf(ownValue(values, name), ownValue(set, name)),
    ]);
    // Without a prototype: a provider may be named `constructor`.
    const none = Object.create(null) as object;
    const providers = Object.assign(none, this.config.providers, Object.fromEntries(merged));
    return { environment, examples, providers, listTimeoutMs: this.listTimeoutMs };
  }

  /** The known providers, and the servers that have an address. */
  list(): ProviderSetup[] {
    const { providers } = this.setup;
    const servers = Object.keys(providers).filter(
      (name) => !isKnownProvider(name) && providers[name]?.url,
    );
    return [...knownProviders, ...servers.toSorted()].map((name) => ({
      name,
      key: ownValue(this.#document.value, name)?.key
        ? 'saved'
        : providers[name]?.key
          ? 'environment'
          : null,
      url: providers[name]?.url ?? null,
    }));
  }

  /** A change takes effect once it is stored; resolves when the listener is done with it. */
  async set(name: string, change: KeyChange): Promise<void> {
    await this.#document.change((values) => changed(values, name, change));
    await this.#changed(name);
  }
}

/** A setting of the user, with what it leaves to the environment. */
function settingOf(
  own: Partial<ProviderConfig> = {},
  ofServer: Partial<ProviderConfig> = {},
): ProviderConfig {
  const isSameAddress = own.url === undefined || own.url === ofServer.url;
  return {
    key: own.key ?? (isSameAddress ? ofServer.key : undefined),
    url: own.url ?? ofServer.url,
  };
}

function changed(values: Saved, name: string, change: KeyChange): Saved {
  const { [name]: _, ...others } = values;
  const before = ownValue(values, name) ?? {};
  const url = change.url === undefined ? before.url : (change.url ?? undefined);
  const kept = url === before.url ? before.key : undefined;
  const key = change.key === undefined ? kept : (change.key ?? undefined);
  return key === undefined && url === undefined ? others : { ...others, [name]: { key, url } };
}

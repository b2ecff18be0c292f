import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { providerName, type ProviderName, type ProviderSetup } from '@belay/protocol';
import { z } from 'zod';
import { Config, type ProviderConfig } from '../config.js';
import { PrivateFile } from '../storage/private-file.js';

const saved = z.partialRecord(
  providerName,
  z.object({ key: z.string().optional(), url: z.string().optional() }),
);

/** The settings with which providers are opened: from the environment, overridden by the user’s. */
export type ModelSetup = Pick<Config, 'environment' | 'examples' | 'providers'>;

/**
 * Keys and addresses of providers that the user sets in the dashboard. They are stored in a file that only the
 * server’s user can read, and never returned by an API: clients learn only whether a key exists.
 */
@Injectable()
export class ProviderKeys {
  readonly #file: PrivateFile<typeof saved>;

  constructor(private readonly config: Config) {
    this.#file = new PrivateFile(join(config.data, 'keys.json'), saved, {});
  }

  get setup(): ModelSetup {
    const { environment, examples } = this.config;
    const merged = (name: ProviderName): ProviderConfig => ({
      key: this.#file.value[name]?.key ?? this.config.providers[name].key,
      url: this.#file.value[name]?.url ?? this.config.providers[name].url,
    });
    const providers = {
      openai: merged('openai'),
      anthropic: merged('anthropic'),
      google: merged('google'),
      'openai-compatible': merged('openai-compatible'),
    };
    return { environment, examples, providers };
  }

  list(): ProviderSetup[] {
    const { providers } = this.setup;
    return providerName.options.map((name) => ({
      name,
      key: this.#file.value[name]?.key
        ? 'saved'
        : this.config.providers[name].key
          ? 'environment'
          : null,
      url: providers[name].url ?? null,
    }));
  }

  /** Omitted fields stay the same; null restores the environment’s value. A change takes effect once it is stored. */
  async set(
    name: ProviderName,
    change: { key?: string | null; url?: string | null },
  ): Promise<void> {
    await this.#file.change((providers) => {
      const before = providers[name] ?? {};
      const after = {
        key: change.key === undefined ? before.key : (change.key ?? undefined),
        url: change.url === undefined ? before.url : (change.url ?? undefined),
      };
      return { ...providers, [name]: after };
    });
  }
}

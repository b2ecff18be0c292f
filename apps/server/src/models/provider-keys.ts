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

/** What providers are opened with: the environment’s settings, and over them what the user has set. */
export type ModelSetup = Pick<Config, 'environment' | 'examples' | 'providers'>;

/**
 * Keys and addresses of providers that the user sets in the dashboard. They are written to a file of the server’s
 * user alone and never read back through an API: a client learns only whether one is there.
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

  /** Left out stays as it is, null goes back to the environment’s. Stored before it counts. */
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
